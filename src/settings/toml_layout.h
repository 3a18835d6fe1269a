// Where the keys, values and headers of a TOML file stand, byte by byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hw::settings {

// One `key = value`. Offsets are bytes of the text.
struct TomlPair {
  std::vector<std::string> path;  // from the root, the header's keys included
  int header = -1;                // index of the header it stands below; -1: none
  bool in_line = false;           // a member of an inline table
  size_t key_begin = 0;
  size_t value_begin = 0, value_end = 0;  // without the blanks behind it
};

// One `[table]` or `[[table]]`.
struct TomlHeader {
  std::vector<std::string> path;
  size_t begin = 0, end = 0;  // of the line without its end
};

// Both lists are in the order of the text; a pair whose value is an inline table comes before the
// table's members.
struct TomlLayout {
  std::vector<TomlHeader> headers;
  std::vector<TomlPair> pairs;
};

// Precondition: `text` is valid TOML 1.0.0 (config::parse_document says so). Text that is not, or
// nests deeper than 64, gives kConfig or a layout that is wrong, but nothing worse.
Result<TomlLayout> layout_of_toml(std::string_view text);

}  // namespace hw::settings
