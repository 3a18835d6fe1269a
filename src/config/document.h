// Document: a TOML file as a plain tree with line numbers, so that only document.cc knows the
// parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hw::config {

// What a value is. kOther: dates and times, which no option takes.
enum class ValueKind : uint8_t { kInteger, kNumber, kBoolean, kText, kList, kTable, kOther };

struct Entry;

// One value of the file and where it stands.
struct Value {
  ValueKind kind = ValueKind::kOther;
  int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a table, in the order of the file
  int line = 0;                // 1-based; 0: not from a file

  // The value of a table's key, or null.
  const Value* find(std::string_view key) const;
};

// A key of a table and its value.
struct Entry {
  std::string key;
  int line = 0;
  Value value;
};

// Why a text is no TOML.
struct SyntaxError {
  int line = 0;
  std::string what;
};

// More than this is no configuration.
inline constexpr size_t kDocumentBytesMax = 1u << 20;

// The root table of `text`, which must be UTF-8 (TOML 1.0.0). Reports the first error only: what
// comes after a broken line cannot be trusted.
tl::expected<Value, SyntaxError> parse_document(std::string_view text);

// The file's bytes; kConfig with the reason where it cannot be read or exceeds `bytes_max`.
Result<std::string> read_small_file(const std::string& path, size_t bytes_max);

}  // namespace hw::config
