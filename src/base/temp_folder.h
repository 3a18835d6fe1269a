// TempFolder: a folder of its own for one test, removed with it.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/assert.h"

namespace hw {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (parent() / "hw-test-XXXXXX").string();
    HW_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  // In memory where that is possible: the tests make hundreds of databases, and a disk that others
  // write to takes many milliseconds for each sync.
  static std::filesystem::path parent() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code ignored;
    const bool usable =
        std::filesystem::is_directory(memory, ignored) && access("/dev/shm", W_OK) == 0;
    return usable ? memory : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

}  // namespace hw
