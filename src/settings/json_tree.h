// A small JSON file as a tree with places, for those who change or judge what people wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/scan.h"

namespace hw::settings {

// Settings files are small; a longer one is refused.
inline constexpr size_t kSettingsBytesMax = 1u << 20;

struct JsonMember;

// One value and where it stands: bytes [begin, end) of the text, quotes and brackets included.
struct JsonNode {
  json::Kind kind = json::Kind::kNull;
  size_t begin = 0, end = 0;
  std::string text;                 // of a string: without quotes and escapes; of a number: as is
  std::vector<JsonMember> members;  // of an object, in the order of the file
  std::vector<JsonNode> items;      // of an array

  // The last member of that name (clients' parsers keep the last), or null.
  const JsonNode* find(std::string_view key) const;
  // The value at the end of `path`, or null.
  const JsonNode* find_path(const std::vector<std::string>& path) const;
  // The string of a member; empty where there is none.
  std::string_view text_of(std::string_view key) const;
};

// A key and its value.
struct JsonMember {
  std::string key;
  JsonNode value;
};

// The object that `text` is (RFC 8259, UTF-8), at most kSettingsBytesMax long, behind a byte
// order mark where there is one. kConfig otherwise; the message says in which line.
Result<JsonNode> parse_json(std::string_view text);

// The line of byte `offset`, 1-based.
int line_at(std::string_view text, size_t offset);

}  // namespace hw::settings
