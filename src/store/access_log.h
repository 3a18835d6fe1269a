// AccessLog: one JSON line for each call, to a file or to standard output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hw::store {

// Belongs to the writer thread. A file that was renamed or removed is made anew within a second of
// the next flush, so that log rotation needs no signal.
class AccessLog {
 public:
  // `path`: a file that is appended to, "-" for standard output, empty for none.
  explicit AccessLog(std::string path) : path_(std::move(path)) {}
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  // A path was given.
  bool enabled() const { return !path_.empty(); }
  // Adds the line of a call, given as encode_call() wrote it; it is written by flush().
  void add(std::string_view record);
  // Writes what was added. kStore where it cannot be written: those lines are dropped. With nothing
  // to write, how the latest writing went.
  Status flush();

 private:
  Status reopen();

  const std::string path_;
  std::string lines_;
  Status latest_;
  int fd_ = -1;
  int64_t looked_at_ns_ = 0;  // monotonic, when the path was last compared with the open file
};

}  // namespace hw::store
