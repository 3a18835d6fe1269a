#include "http/fields.h"

#include <algorithm>

#include "base/text.h"
#include "http/characters.h"

namespace hw::http {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

}  // namespace

void Fields::move_out() {
  more_ = std::make_unique_for_overwrite<unsigned char[]>(kFieldsMax * sizeof(Field));
  for (size_t i = 0; i < size_; ++i) {
    const auto* from = reinterpret_cast<const Field*>(storage_ + i * sizeof(Field));
    new (more_.get() + i * sizeof(Field)) Field(*from);
  }
}

const Field* Fields::find(std::string_view name) const {
  for (const Field& field : *this) {
    if (equal_ignoring_case(field.name, name)) return &field;
  }
  return nullptr;
}

std::string_view Fields::value(std::string_view name) const {
  const Field* field = find(name);
  return field == nullptr ? std::string_view() : field->value;
}

size_t Fields::count(std::string_view name) const {
  size_t count = 0;
  for (const Field& field : *this) count += equal_ignoring_case(field.name, name) ? 1 : 0;
  return count;
}

std::string_view take_list_element(std::string_view& list) {
  const size_t comma = std::min(list.find(','), list.size());
  const std::string_view element = trim(list.substr(0, comma));
  list.remove_prefix(std::min(comma + 1, list.size()));
  return element;
}

const char* parse_field_line(std::string_view line, Field& out) {
  size_t at = 0;
  while (at < line.size() && is_token_char(line[at])) ++at;
  if (at == 0 || at == line.size() || line[at] != ':') return "a line is not `name: value`";
  const std::string_view value = trim(line.substr(at + 1));
  if (find_control(value.data(), value.data() + value.size()) != value.data() + value.size()) {
    return "the value has a control character in it";
  }
  out = {line.substr(0, at), value, 0};
  return nullptr;
}

bool is_token(std::string_view text) {
  for (const char c : text) {
    if (!is_token_char(c)) return false;
  }
  return !text.empty();
}

bool is_field_value(std::string_view text) {
  const char* end = text.data() + text.size();
  if (find_control(text.data(), end) != end) return false;
  return text.empty() || (!is_blank(text.front()) && !is_blank(text.back()));
}

bool is_hop_by_hop(std::string_view name) {
  const auto is = [&](std::string_view other) { return is_token_named(name, other); };
  switch (name.size()) {
    case 2:
      return is("te");
    case 7:
      return is("trailer") || is("upgrade");
    case 10:
      return is("connection") || is("keep-alive");
    case 16:
      return is("proxy-connection");
    case 17:
      return is("transfer-encoding");
    case 18:
      return is("proxy-authenticate");
    case 19:
      return is("proxy-authorization");
  }
  return false;
}

HopByHop::HopByHop(const Fields& fields) : fields_(fields) {
  for (const Field& field : fields) {
    if (!is_token_named(field.name, "connection")) continue;
    std::string_view list = field.value;
    while (!list.empty()) {
      const std::string_view option = take_list_element(list);
      lists_names_ |= !equal_ignoring_case(option, "close") &&
                      !equal_ignoring_case(option, "keep-alive") && !option.empty();
    }
  }
}

bool HopByHop::drops(std::string_view name) const {
  if (is_hop_by_hop(name)) return true;
  if (!lists_names_) return false;
  for (const Field& field : fields_) {
    if (!is_token_named(field.name, "connection")) continue;
    std::string_view list = field.value;
    while (!list.empty()) {
      if (equal_ignoring_case(take_list_element(list), name)) return true;
    }
  }
  return false;
}

}  // namespace hw::http
