// DataDir: the folder in which `headway up` keeps what it needs again: its key, its admin token,
// the database, and, while it runs, where it listens.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hw::app {

class DataDir {
 public:
  // Makes the folder (mode 0700) where it is missing. kConfig where that fails.
  static Result<DataDir> open(const std::string& path);
  // For commands that only read.
  explicit DataDir(std::string path) : path_(std::move(path)) {}

  // As it was given.
  const std::string& path() const { return path_; }
  // Path of the SQLite database.
  std::string database() const { return path_ + "/headway.db"; }

  // The secret in the file `name` ("key", "admin_token"); made at the first time: `prefix` and 43
  // random characters (256 bits), in a file of mode 0600. kConfig where the file cannot be read or
  // written, is empty, or may be read by others.
  Result<std::string> secret(std::string_view name, std::string_view prefix);
  // Keeps `secret` in that file instead, for commands in other terminals. kConfig likewise.
  Status keep_secret(std::string_view name, std::string_view secret);
  // The secret, or empty where there is none that can be read.
  std::string read_secret(std::string_view name) const;

  // Says where the running gateway is, "http://127.0.0.1:8080", for commands in other terminals.
  Status write_address(std::string_view base_url);
  // Empty where nothing runs.
  std::string read_address() const;
  void remove_address();

 private:
  std::string file(std::string_view name) const;
  std::string path_;
};

}  // namespace hw::app
