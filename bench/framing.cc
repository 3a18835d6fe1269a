#include "framing.h"

#include <charconv>
#include <cstring>

namespace hw::bench {
namespace {

constexpr size_t kHeadBytesMax = 65536;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// Cuts the next line off `rest`; without its CRLF.
std::string_view take_line(std::string_view& rest) {
  size_t end = rest.find("\r\n");
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

// Splits `name: value`; false where there is no colon.
bool split_field(std::string_view line, std::string_view& name, std::string_view& value) {
  size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  name = line.substr(0, colon);
  value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return true;
}

int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  char small = lower(byte);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

}  // namespace

HeadState parse_head(std::string_view bytes, MessageHead& head) {
  size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return bytes.size() > kHeadBytesMax ? HeadState::kMalformed : HeadState::kIncomplete;
  }
  head = {};
  head.size_bytes = end + 4;
  head.fields = bytes.substr(0, end + 2);
  head.start_line = take_line(head.fields);
  std::string_view rest = head.fields;
  while (!rest.empty()) {
    std::string_view name, value;
    if (!split_field(take_line(rest), name, value)) return HeadState::kMalformed;
    if (name.size() == 14 && equal_ignoring_case(name, "content-length")) {
      auto [after, error] =
          std::from_chars(value.data(), value.data() + value.size(), head.content_length);
      if (error != std::errc() || head.content_length < 0) return HeadState::kMalformed;
    } else if (name.size() == 17 && equal_ignoring_case(name, "transfer-encoding")) {
      head.chunked = true;
    }
  }
  return HeadState::kComplete;
}

std::string_view field_value(const MessageHead& head, std::string_view wanted) {
  std::string_view rest = head.fields;
  while (!rest.empty()) {
    std::string_view name, value;
    if (split_field(take_line(rest), name, value) && equal_ignoring_case(name, wanted)) {
      return value;
    }
  }
  return {};
}

int status_of(const MessageHead& head) {
  size_t space = head.start_line.find(' ');
  if (space == std::string_view::npos) return 0;
  std::string_view digits = head.start_line.substr(space + 1, 3);
  int status = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), status);
  return status;
}

void BodyWalk::begin(const MessageHead& head) {
  chunked_ = head.chunked;
  left_ = chunked_ || head.content_length < 0 ? 0 : head.content_length;
  trailer_line_bytes_ = 0;
  if (chunked_) {
    state_ = State::kSize;
  } else {
    state_ = left_ > 0 ? State::kPayload : State::kDone;
  }
}

void BodyWalk::framing_byte(char byte) {
  switch (state_) {
    case State::kSize:
      return size_byte(byte);
    case State::kExtension:
      if (byte == '\n') size_line_ended();
      return;
    case State::kPayloadEnd:
      if (byte == '\n') state_ = State::kSize;
      return;
    case State::kTrailer:
      if (byte == '\n') {
        if (trailer_line_bytes_ == 0) state_ = State::kDone;
        trailer_line_bytes_ = 0;
      } else if (byte != '\r') {
        ++trailer_line_bytes_;
      }
      return;
    case State::kPayload:
    case State::kDone:
    case State::kMalformed:
      return;
  }
}

void BodyWalk::size_byte(char byte) {
  constexpr int64_t kChunkBytesMax = int64_t{1} << 32;
  int digit = hex_digit(byte);
  if (digit >= 0) {
    left_ = left_ * 16 + digit;
    if (left_ > kChunkBytesMax) state_ = State::kMalformed;
  } else if (byte == '\n') {
    size_line_ended();
  } else {
    state_ = State::kExtension;  // `;` or the CR
  }
}

void BodyWalk::size_line_ended() {
  state_ = left_ > 0 ? State::kPayload : State::kTrailer;
}

}  // namespace hw::bench
