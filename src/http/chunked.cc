#include "http/chunked.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "http/fields.h"

namespace hw::http {
namespace {

constexpr uint8_t kSizeDigitsMax = 16;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

bool is_extension_char(char c) {
  return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
}

}  // namespace

Result<ChunkStep> ChunkDecoder::step(std::string_view in) {
  ChunkStep step;
  while (step.consumed < in.size() && state_ != State::kDone && state_ != State::kFailed) {
    const std::string_view rest = in.substr(step.consumed);
    if (state_ != State::kPayload) {
      step.consumed += take_framing(rest);
      continue;
    }
    step.payload = rest.substr(0, left_);
    step.consumed += step.payload.size();
    payload_bytes_ += step.payload.size();
    left_ -= step.payload.size();
    if (left_ == 0) state_ = State::kPayloadCr;
    return step;
  }
  if (state_ == State::kFailed) return fail(blame_, fault_);
  return step;
}

// Takes what it can off `in`, which is not empty, outside of payload.
size_t ChunkDecoder::take_framing(std::string_view in) {
  switch (state_) {
    case State::kSize:
      return take_size(in);
    case State::kExtension:
      return take_extension(in);
    case State::kTrailer:
      return take_trailer(in);
    case State::kSizeLf:
      if (in.front() == '\n') {
        end_size_line();
      } else {
        set_fault("a CR stands alone in a chunk's size line");
      }
      return 1;
    case State::kPayloadCr:
      expect(in.front(), '\r', State::kPayloadLf, "a chunk is longer than its size");
      return 1;
    case State::kPayloadLf:
      expect(in.front(), '\n', State::kSize, "a chunk does not end in CRLF");
      return 1;
    case State::kPayload:
    case State::kDone:
    case State::kFailed:
      break;
  }
  HW_ASSERT(false);
  return 0;
}

size_t ChunkDecoder::take_size(std::string_view in) {
  size_t taken = 0;
  for (; taken < in.size(); ++taken) {
    const int digit = hex_digit(in[taken]);
    if (digit < 0) break;
    if (digits_ == kSizeDigitsMax) {
      set_fault("a chunk's size has more than 16 digits");
      return taken;
    }
    left_ = left_ * 16 + static_cast<uint64_t>(digit);
    ++digits_;
  }
  if (taken == in.size()) return taken;
  const char c = in[taken++];
  if (digits_ > 0 && c == '\r') {
    state_ = State::kSizeLf;
  } else if (digits_ > 0 && c == ';') {
    state_ = State::kExtension;
  } else {
    set_fault("a chunk's size is not a hexadecimal number");
  }
  return taken;
}

size_t ChunkDecoder::take_extension(std::string_view in) {
  size_t taken = 0;
  while (taken < in.size() && is_extension_char(in[taken])) {
    if (++extension_bytes_ > kChunkExtensionBytesMax) {
      set_fault("a chunk's extension is too long");
      return taken;
    }
    ++taken;
  }
  if (taken == in.size()) return taken;
  expect(in[taken], '\r', State::kSizeLf, "a chunk's extension has a control character in it");
  return taken + 1;
}

void ChunkDecoder::end_size_line() {
  if (left_ > UINT64_MAX - payload_bytes_) return set_fault("the chunks' sizes overflow");
  digits_ = 0;
  extension_bytes_ = 0;
  state_ = left_ == 0 ? State::kTrailer : State::kPayload;
}

size_t ChunkDecoder::take_trailer(std::string_view in) {
  const size_t lf = in.find('\n');
  const size_t taken = lf == in.npos ? in.size() : lf + 1;
  trailer_bytes_ += taken;
  if (trailer_bytes_ > limits_.trailer_bytes_max) {
    set_fault("the trailers are too long");
    return taken;
  }
  trailer_line_.append(in.substr(0, taken));
  if (lf != in.npos) end_trailer_line();
  return taken;
}

void ChunkDecoder::end_trailer_line() {
  const std::string line = std::move(trailer_line_);
  trailer_line_.clear();
  if (line.size() < 2 || line[line.size() - 2] != '\r') {
    return set_fault("a trailer line ends in LF without CR");
  }
  if (line.size() == 2) {
    state_ = State::kDone;
    return;
  }
  if (++trailers_seen_ > limits_.trailers_max) return set_fault("there are too many trailers");
  Field field;
  const std::string_view content(line.data(), line.size() - 2);
  if (parse_field_line(content, field) != nullptr) return set_fault("a trailer is malformed");
  if (trailers_.size() + line.size() <= kTrailerBytesKept) trailers_.append(line);
}

void ChunkDecoder::expect(char got, char wanted, State next, const char* otherwise) {
  if (got != wanted) return set_fault(otherwise);
  state_ = next;
}

void ChunkDecoder::set_fault(const char* what) {
  state_ = State::kFailed;
  fault_ = what;
}

void append_chunk(std::string& out, std::string_view payload) {
  if (payload.empty()) return;
  char digits[kSizeDigitsMax];
  const auto end = std::to_chars(digits, digits + sizeof digits, payload.size(), 16);
  out.append(digits, end.ptr).append("\r\n").append(payload).append("\r\n");
}

void write_chunk_head(char* head, size_t payload_bytes) {
  HW_ASSERT(payload_bytes > 0 && payload_bytes <= kChunkPayloadMax);
  constexpr char kHex[] = "0123456789abcdef";
  for (size_t i = 6; i-- > 0; payload_bytes >>= 4) head[i] = kHex[payload_bytes & 0xf];
  head[6] = '\r';
  head[7] = '\n';
}

size_t begin_chunk(std::string& out) {
  const size_t begin = out.size();
  out.append(kChunkHeadBytes, '0');
  return begin;
}

void end_chunk(std::string& out, size_t begin) {
  HW_ASSERT(begin + kChunkHeadBytes <= out.size());
  const size_t payload_bytes = out.size() - begin - kChunkHeadBytes;
  if (payload_bytes == 0) {
    out.resize(begin);
    return;
  }
  write_chunk_head(out.data() + begin, payload_bytes);
  out.append("\r\n");
}

}  // namespace hw::http
