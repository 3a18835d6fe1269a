#include "wire/upstream_error.h"

#include <algorithm>

#include "json/utf8.h"

namespace hw::wire {
namespace {

constexpr size_t kExcerptCharactersMax = 200;

// Printable ASCII or above; the C1 control characters (U+0080 to U+009F) are not.
bool printable(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7f;
  return !(first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// A message in JSON of another make: {"message": ...}, {"detail": ...} (FastAPI: a string or a list
// of objects with `msg`), {"error": "..."} or an `error` object under the other family's roof.
void read_foreign(json::Object object, ErrorWords& words) {
  read_error(object, words);
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "error" && !value.is_null()) read_error(value, words);
    if (key == "detail" && words.message.empty()) {
      keep(words.message, value.text_or(""), kErrorMessageBytesMax);
      const json::Value first = value.array().first();
      if (words.message.empty()) {
        keep(words.message, first.object().find("msg").text_or(""), kErrorMessageBytesMax);
      }
    }
  });
}

}  // namespace

void keep(std::string& out, std::string_view text, size_t bytes_max) {
  size_t size = std::min(text.size(), bytes_max);
  if (size < text.size()) {
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  }
  out.assign(text.substr(0, size));
}

void read_error(json::Object error, ErrorWords& words) {
  error.each([&](std::string_view key, const json::Value& value) {
    if (key == "message") {
      keep(words.message, value.text_or(""), kErrorMessageBytesMax);
    } else if (key == "type") {
      keep(words.type, value.text_or(""), kWordBytesMax);
    } else if (key == "code") {
      const bool number = value.kind() == json::Kind::kNumber;
      keep(words.code, number ? value.raw() : value.text_or(""), kWordBytesMax);
    }
  });
}

void read_error(const json::Value& error, ErrorWords& words) {
  if (error.kind() == json::Kind::kString) {
    keep(words.message, error.text_or(""), kErrorMessageBytesMax);
  } else {
    read_error(error.object(), words);
  }
}

UpstreamErrorBody read_error_body(Family family, std::string_view body) {
  UpstreamErrorBody result;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (!document.open(body)) return result;
  const json::Value error = document.root().find("error");
  const bool named_error = document.root().find("type").text_or("") == "error";
  read_error(error, result.words);
  const bool complete = document.finish().has_value();
  const bool shaped = error.kind() == json::Kind::kObject && !result.words.message.empty();
  switch (family) {
    case Family::kOpenai:
      if (shaped) result.shape = ErrorShape::kFamily;
      break;
    case Family::kAnthropic:
      if (shaped && named_error && !result.words.type.empty()) result.shape = ErrorShape::kFamily;
      break;
  }
  if (!complete) {
    result.shape = ErrorShape::kNone;
  } else if (result.shape == ErrorShape::kNone) {
    if (result.words.message.empty()) read_foreign(document.root(), result.words);
    if (!result.words.message.empty()) result.shape = ErrorShape::kForeign;
  }
  return result;
}

std::string excerpt(std::string_view body) {
  std::string out;
  size_t characters = 0;
  bool space = false;
  while (!body.empty()) {
    const size_t size = json::utf8_sequence_bytes(body);
    const std::string_view character = body.substr(0, std::max<size_t>(size, 1));
    body.remove_prefix(character.size());
    if (is_space(character[0])) {
      space = !out.empty();
      continue;
    }
    if (size == 0 || !printable(character)) continue;
    if (characters + (space ? 2 : 1) > kExcerptCharactersMax - 3) return out + "...";
    if (space) out += ' ';
    characters += space ? 2 : 1;
    out += character;
    space = false;
  }
  return out.empty() ? "(empty)" : out;
}

}  // namespace hw::wire
