// Reading and writing of settings files: a file changes whole or not at all, and what was there
// before stays beside it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hw::settings {

// A settings file as it was read. One that is not there has neither text nor mode.
struct FileText {
  std::string path;
  bool there = false;
  std::string text;
  unsigned mode = 0;  // permission bits
};

// The file with its permission bits; `there` is false where there is none. kConfig where it cannot
// be read or is larger than kSettingsBytesMax.
Result<FileText> read_file(const std::string& path);

// Puts `text` in the place of `before`, which read_file() gave: a new file of mode 0600 beside
// it is written, synced and renamed over it. Folders that are missing are made (mode 0700); a
// symbolic link stays one, its target is replaced. The old text, where there was any, is kept
// beside it as `PATH.backup-YYYYMMDDTHHMMSSZ` (mode 0600), whose path comes back, else an empty
// one. kConfig where something fails, or where the file is not what it was when it was read; then
// nothing has changed.
Result<std::string> replace_file(const FileText& before, std::string_view text,
                                 std::string_view time);

}  // namespace hw::settings
