#include "config/document.h"

#include <fcntl.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace hw::config {
namespace {

int line_of(const toml::source_region& region) {
  return static_cast<int>(region.begin.line);
}

Value convert(const toml::node& node);

// toml++ sorts a table's keys; the position in the file restores the writer's order, which counts
// for model_map.
void convert_table(const toml::table& table, Value& out) {
  struct Positioned {
    toml::source_position at;
    Entry entry;
  };
  std::vector<Positioned> found;
  for (const auto& [key, node] : table) {
    Entry entry;
    entry.key = std::string(key.str());
    entry.line = line_of(key.source());
    entry.value = convert(node);
    found.push_back({key.source().begin, std::move(entry)});
  }
  std::sort(found.begin(), found.end(),
            [](const Positioned& a, const Positioned& b) { return a.at < b.at; });
  for (Positioned& one : found) out.entries.push_back(std::move(one.entry));
}

Value convert(const toml::node& node) {
  Value out;
  out.line = line_of(node.source());
  if (const auto* integer = node.as_integer()) {
    out.kind = ValueKind::kInteger;
    out.integer = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    out.kind = ValueKind::kNumber;
    out.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    out.kind = ValueKind::kBoolean;
    out.boolean = boolean->get();
  } else if (const auto* text = node.as_string()) {
    out.kind = ValueKind::kText;
    out.text = text->get();
  } else if (const auto* list = node.as_array()) {
    out.kind = ValueKind::kList;
    for (const toml::node& item : *list) out.items.push_back(convert(item));
  } else if (const auto* table = node.as_table()) {
    out.kind = ValueKind::kTable;
    convert_table(*table, out);
  }
  return out;
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

tl::expected<Value, SyntaxError> parse_document(std::string_view text) {
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return tl::unexpected<SyntaxError>({line_of(error.source()), std::string(error.description())});
  }
}

Result<std::string> read_small_file(const std::string& path, size_t bytes_max) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorCode::kConfig, std::strerror(errno));
  std::string out;
  char block[16'384];
  ssize_t count = 0;
  while (out.size() <= bytes_max && (count = ::read(file, block, sizeof block)) > 0) {
    out.append(block, static_cast<size_t>(count));
  }
  const int error = errno;
  ::close(file);
  if (count < 0) return fail(ErrorCode::kConfig, std::strerror(error));
  if (out.size() > bytes_max) {
    return fail(ErrorCode::kConfig, concat("it is larger than ", bytes_max, " bytes"));
  }
  return out;
}

}  // namespace hw::config
