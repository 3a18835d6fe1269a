#include "neutral/text.h"

#include "json/literal.h"
#include "json/writer.h"

namespace hw::translate {

Text Text::of(const json::Value& value) {
  if (value.kind() != json::Kind::kString) return {};
  const std::string_view raw = value.raw();
  if (!json::is_string_literal(raw)) return {};
  return escaped(raw.substr(1, raw.size() - 2));
}

void Text::append_json(std::string& out) const {
  if (form_ == Form::kPlain) return json::append_quoted(out, bytes_);
  out += '"';
  out += bytes_;
  out += '"';
}

void Text::append_escaped(std::string& out) const {
  if (form_ != Form::kPlain) {
    out += bytes_;
    return;
  }
  const size_t begin = out.size();
  json::append_quoted(out, bytes_);
  out.pop_back();
  out.erase(begin, 1);
}

void Text::append_plain(std::string& out) const {
  if (form_ != Form::kEscaped || bytes_.find('\\') == std::string_view::npos) {
    out += bytes_;
    return;
  }
  const size_t begin = out.size();
  out.resize(begin + bytes_.size());
  const size_t size = json::unescape(bytes_, out.data() + begin);
  out.resize(begin + (size == json::kBadEscape ? 0 : size));
}

std::string Text::str() const {
  std::string out;
  append_plain(out);
  return out;
}

bool Text::is(std::string_view plain) const {
  if (form_ == Form::kAbsent) return false;
  if (form_ == Form::kPlain || bytes_.find('\\') == std::string_view::npos) return bytes_ == plain;
  return str() == plain;
}

}  // namespace hw::translate
