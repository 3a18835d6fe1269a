#include "store/access_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "journal/call_codec.h"
#include "store/call_json.h"

namespace hw::store {
namespace {

// True where `path` still names the open file.
bool same_file(int fd, const std::string& path) {
  struct stat open_file, named_file;
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return fail(ErrorCode::kStore, concat("The access log cannot be written: ",
                                            std::string_view(std::strerror(errno)), "."));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

AccessLog::~AccessLog() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) close(fd_);
}

void AccessLog::add(std::string_view record) {
  const Result<timeline::Call> call = journal::decode_call(record);
  if (call.has_value()) append_access_log(lines_, *call);
}

Status AccessLog::flush() {
  if (lines_.empty()) return latest_;
  latest_ = reopen();
  if (latest_) latest_ = write_all(fd_, lines_);
  lines_.clear();
  return latest_;
}

Status AccessLog::reopen() {
  if (path_ == "-") {
    fd_ = STDOUT_FILENO;
    return {};
  }
  const Nanos now = monotonic_ns();
  if (fd_ >= 0 && now - looked_at_ns_ < kSecond) return {};
  looked_at_ns_ = now;
  if (fd_ >= 0 && same_file(fd_, path_)) return {};
  if (fd_ >= 0) close(fd_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd_ >= 0) return {};
  return fail(ErrorCode::kStore, concat("The access log ", path_, " cannot be opened: ",
                                        std::string_view(std::strerror(errno)), "."));
}

}  // namespace hw::store
