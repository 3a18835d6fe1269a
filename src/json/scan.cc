#include "json/scan.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/assert.h"
#include "base/text.h"
#include "json/literal.h"
#include "json/utf8.h"

namespace hw::json {
namespace {

// Object::at_ and Array::at_ when all has been given.
constexpr uint32_t kEnd = UINT32_MAX;

constexpr std::array<int8_t, 256> kDepthChange = [] {
  std::array<int8_t, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}();

// What cannot stand where a value begins; NUL is the end of the text.
constexpr std::array<uint8_t, 256> kCannotBegin = [] {
  std::array<uint8_t, 256> cannot{};
  for (const char c : {'\0', ',', ':', '}', ']'}) cannot[static_cast<unsigned char>(c)] = 1;
  return cannot;
}();

// Whether [at, at + size), whose text ends at `end`, is short and has no backslash: so are nearly
// all keys.
bool is_plain_key(const char* at, size_t size, const char* end) {
#if defined(__SSE2__)
  if (size > 16 || end - at < 16) return false;
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  return (static_cast<unsigned>(mask) & ((1u << size) - 1)) == 0;
#else
  return size > 0 && end > at && std::memchr(at, '\\', size) == nullptr;
#endif
}

const char* fault_text(TokenFault fault) {
  switch (fault) {
    case TokenFault::kNone:
      break;
    case TokenFault::kEmpty:
      return "there is no JSON";
    case TokenFault::kTooLong:
      return "the JSON text is too long";
    case TokenFault::kNotUtf8:
      return "the JSON text is not UTF-8";
    case TokenFault::kOpenString:
      return "a string is not closed";
    case TokenFault::kControl:
      return "a control character stands bare in a string";
  }
  return nullptr;
}

// Where the first bare control character in a string is; only to tell a person.
size_t find_control(std::string_view text) {
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') in_string = !in_string;
    if (!in_string) continue;
    if (static_cast<unsigned char>(text[i]) < 0x20) return i;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

size_t fault_offset(TokenFault fault, std::string_view text) {
  switch (fault) {
    case TokenFault::kNotUtf8:
      return valid_utf8_prefix(text);
    case TokenFault::kControl:
      return find_control(text);
    case TokenFault::kNone:
    case TokenFault::kEmpty:
    case TokenFault::kTooLong:
    case TokenFault::kOpenString:
      break;
  }
  return text.size();
}

}  // namespace

void Document::set_fault(const char* what, uint32_t token) {
  set_fault_at(what, tokens_.offset(token));
}

void Document::set_fault_at(const char* what, size_t offset) {
  if (fault_ != nullptr) return;
  fault_ = what;
  fault_offset_ = offset;
}

// The token behind the value that begins at `token`.
inline uint32_t Document::skip(uint32_t token) {
  if (kDepthChange[static_cast<unsigned char>(tokens_.at(token))] <= 0) return token + 1;
  if (walked_begin_ == token && walked_end_ != 0) return walked_end_;
  return skip_container(token);
}

uint32_t Document::skip_container(uint32_t token) {
  int64_t depth = 0;
  for (uint32_t i = token; i < tokens_.count; ++i) {
    depth += kDepthChange[static_cast<unsigned char>(tokens_.text[tokens_.offsets[i]])];
    if (depth == 0) {
      walked_begin_ = token;
      walked_end_ = i + 1;
      return i + 1;
    }
  }
  set_fault("a brace or bracket is not closed", tokens_.count);
  return tokens_.count;
}

// From the element at token `at` to the token where the next one begins; kEnd behind the last.
// `at` equal to `begin` stands before the first.
inline uint32_t Document::step(uint32_t begin, uint32_t at, char close) {
  if (fault_ != nullptr || at == kEnd) return kEnd;
  const bool is_first = at == begin;
  const uint32_t next = is_first ? begin + 1 : skip(at);
  const char c = tokens_.at(next);
  if (c == close) {
    walked_begin_ = begin;
    walked_end_ = next + 1;
    return kEnd;
  }
  if (is_first) return next;
  if (c == ',') return next + 1;
  set_fault("a comma or the end of its object or array is missing", next);
  return kEnd;
}

// What stands between the quotes of the string at `token`, escapes and all.
inline std::string_view Document::string_content(uint32_t token) {
  const std::string_view literal = tokens_.slice(token);
  if (literal.size() < 2 || literal.back() != '"') {
    set_fault("a string is not closed", token);
    return {};
  }
  return literal.substr(1, literal.size() - 2);
}

inline std::string_view Document::unescape(std::string_view content, uint32_t token) {
  if (std::memchr(content.data(), '\\', content.size()) == nullptr) return content;
  return unescape_slowly(content, token);
}

std::string_view Document::unescape_slowly(std::string_view content, uint32_t token) {
  char* out = scratch(*index_, content.size());
  const size_t size = json::unescape(content, out);
  if (size == kBadEscape) {
    set_fault("a string has an escape that JSON does not know", token);
    return {};
  }
  return {out, size};
}

bool Document::check_number(std::string_view literal, uint32_t token) {
  if (is_number_literal(literal)) return true;
  set_fault("a number is malformed", token);
  return false;
}

// Whether a value can begin at `token`; the rest is seen by those who read it.
inline bool Document::is_value(uint32_t token) {
  if (kCannotBegin[static_cast<unsigned char>(tokens_.at(token))] == 0) return true;
  set_fault("a value is missing", token);
  return false;
}

Range Document::container_range(uint32_t begin) {
  const uint32_t end = skip(begin);
  if (!ok()) return {};
  const size_t from = tokens_.offset(begin);
  return {from, tokens_.offset(end - 1) + 1 - from};
}

Document::~Document() {
  if (index_ != nullptr) return_token_index(index_);
}

Status Document::open(std::string_view text) {
  if (index_ == nullptr) index_ = borrow_token_index();
  walked_begin_ = walked_end_ = 0;
  fault_ = nullptr;
  const TokenFault fault = index_tokens(*index_, text, tokens_);
  if (fault != TokenFault::kNone) {
    set_fault_at(fault_text(fault), fault_offset(fault, text));
  } else if (tokens_.at(0) != '{') {
    set_fault("the JSON text is not an object", 0);
  } else if (tokens_.at(tokens_.count - 1) != '}') {
    set_fault("the JSON object is not closed", tokens_.count);
  }
  if (!ok()) return fail(error());
  return {};
}

Object Document::root() {
  return ok() && tokens_.count > 0 ? Object(this, 0) : Object();
}

Status Document::finish() {
  if (ok()) {
    const uint32_t end = skip(0);
    if (ok() && end != tokens_.count) set_fault("something follows the JSON object", end);
  }
  if (!ok()) return fail(error());
  return {};
}

Error Document::error() const {
  HW_ASSERT(fault_ != nullptr);
  return Error(blame_, concat(fault_, " (byte ", fault_offset_, ")"));
}

Kind Value::kind() const {
  if (document_ == nullptr) return Kind::kNull;
  const Tokens& tokens = document_->tokens_;
  switch (tokens.at(token_)) {
    case '"':
      return Kind::kString;
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case 't':
    case 'f':
    case 'n': {
      const std::string_view literal = tokens.slice(token_);
      if (literal == "null") return Kind::kNull;
      if (literal == "true" || literal == "false") return Kind::kBool;
      break;
    }
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return Kind::kNumber;
  }
  document_->set_fault("this is no JSON value", token_);
  return Kind::kNull;
}

std::optional<std::string_view> Value::text() const {
  if (document_ == nullptr || document_->tokens_.at(token_) != '"') return std::nullopt;
  const std::string_view text = document_->unescape(document_->string_content(token_), token_);
  if (!document_->ok()) return std::nullopt;
  return text;
}

bool Value::has_text() const {
  if (document_ == nullptr || document_->tokens_.at(token_) != '"') return false;
  return document_->tokens_.slice(token_).size() > 2;
}

std::optional<bool> Value::boolean() const {
  if (kind() != Kind::kBool) return std::nullopt;
  return document_->tokens_.at(token_) == 't';
}

std::optional<int64_t> Value::integer() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  const std::string_view literal = document_->tokens_.slice(token_);
  if (!document_->check_number(literal, token_)) return std::nullopt;
  int64_t integer = 0;
  const auto [end, error] = std::from_chars(literal.begin(), literal.end(), integer);
  if (end == literal.end()) {
    return error == std::errc() ? std::optional(integer) : std::nullopt;
  }
  const auto real = number();
  constexpr double kLimit = 9223372036854775808.0;
  if (!real || *real < -kLimit || *real >= kLimit || std::trunc(*real) != *real) {
    return std::nullopt;
  }
  return static_cast<int64_t>(*real);
}

std::optional<double> Value::number() const {
  if (kind() != Kind::kNumber) return std::nullopt;
  const std::string_view literal = document_->tokens_.slice(token_);
  if (!document_->check_number(literal, token_)) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(literal.begin(), literal.end(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

Range Value::range() const {
  if (document_ == nullptr || token_ >= document_->tokens_.count) return {};
  const char first = document_->tokens_.at(token_);
  if (first == '{' || first == '[') return document_->container_range(token_);
  return {document_->tokens_.offset(token_), document_->tokens_.slice(token_).size()};
}

std::string_view Value::raw() const {
  if (document_ == nullptr) return {};
  const Range at = range();
  return document_->tokens_.text.substr(at.offset, at.length);
}

bool Object::next(std::string_view& key, Value& value) {
  if (document_ == nullptr || at_ == kEnd) return false;
  return next_at_sight(key, value) || next_with_care(key, value);
}

// The next field where all is as it nearly always is: a comma, a key without escapes, a colon, a
// value. False, and nothing changed, where it is not.
inline bool Object::next_at_sight(std::string_view& key, Value& value) {
  Document& document = *document_;
  const Tokens tokens = document.tokens_;
  const char* const text = tokens.text.data();
  if (document.fault_ != nullptr) return false;
  uint32_t token = begin_ + 1;
  if (at_ != begin_) {
    if (at_ + 1 >= tokens.count) return false;
    token = at_ + 1;
    if (kDepthChange[static_cast<unsigned char>(text[tokens.offsets[at_]])] > 0) {
      if (document.walked_begin_ != at_ || document.walked_end_ == 0) return false;
      token = document.walked_end_;
    }
    if (token >= tokens.count || text[tokens.offsets[token]] != ',') return false;
    ++token;
  }
  if (token + 2 >= tokens.count) return false;
  const char* const open = text + tokens.offsets[token];
  const char* const colon = text + tokens.offsets[token + 1];
  if (*open != '"' || *colon != ':' || colon[-1] != '"' || colon - open < 2) return false;
  const auto size = static_cast<size_t>(colon - open - 2);
  if (!is_plain_key(open + 1, size, text + tokens.text.size())) return false;
  if (kCannotBegin[static_cast<unsigned char>(text[tokens.offsets[token + 2]])] != 0) return false;
  key = {open + 1, size};
  at_ = token + 2;
  value = Value(document_, at_);
  return true;
}

bool Object::next_with_care(std::string_view& key, Value& value) {
  const uint32_t token = document_->step(begin_, at_, '}');
  at_ = kEnd;
  if (token == kEnd) return false;
  const Tokens& tokens = document_->tokens_;
  if (tokens.at(token) != '"') {
    document_->set_fault("a key is missing", token);
    return false;
  }
  if (tokens.at(token + 1) != ':') {
    document_->set_fault("a colon is missing behind a key", token + 1);
    return false;
  }
  key = document_->unescape(document_->string_content(token), token);
  if (!document_->is_value(token + 2)) return false;
  at_ = token + 2;
  value = Value(document_, at_);
  return true;
}

Value Object::find(std::string_view name) const {
  Object fields(document_, begin_);
  Value found;
  fields.each([&](std::string_view key, Value value) {
    if (key == name) found = value;
  });
  return found;
}

Range Object::range() const {
  return document_ == nullptr ? Range() : document_->container_range(begin_);
}

size_t Object::offset() const {
  return document_ == nullptr ? 0 : document_->tokens_.offset(begin_);
}

bool Object::empty() const {
  return document_ == nullptr || document_->tokens_.at(begin_ + 1) == '}';
}

bool Array::next(Value& value) {
  if (document_ == nullptr) return false;
  const uint32_t token = document_->step(begin_, at_, ']');
  at_ = kEnd;
  if (token == kEnd || !document_->is_value(token)) return false;
  at_ = token;
  value = Value(document_, token);
  return true;
}

size_t Array::count() const {
  Array elements(document_, begin_);
  size_t count = 0;
  elements.each([&](Value) { ++count; });
  return count;
}

Value Array::first() const {
  Array elements(document_, begin_);
  Value value;
  return elements.next(value) ? value : Value();
}

Range Array::range() const {
  return document_ == nullptr ? Range() : document_->container_range(begin_);
}

}  // namespace hw::json
