#include "http/sse.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/text.h"

namespace hw::http {
namespace {

// What the inner buffer may keep between events, so that an idle stream holds next to nothing.
constexpr size_t kKeptBytes = 1024;
constexpr std::string_view kBom = "\xef\xbb\xbf";

// Where the first CR or LF at or behind `at` is; text.size() where there is none.
size_t find_line_end(std::string_view text, size_t at) {
#if defined(__SSE2__)
  const __m128i cr = _mm_set1_epi8('\r');
  const __m128i lf = _mm_set1_epi8('\n');
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const int mask =
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, cr), _mm_cmpeq_epi8(bytes, lf)));
    if (mask != 0) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  while (at < text.size() && text[at] != '\r' && text[at] != '\n') ++at;
  return at;
}

// Takes one line with its end off `lines`, which is not empty and ends with a line end.
std::string_view take_line(std::string_view& lines) {
  const size_t end = find_line_end(lines, 0);
  const std::string_view line = lines.substr(0, end);
  const bool is_crlf = lines.substr(end, 2) == "\r\n";
  lines.remove_prefix(end + (is_crlf ? 2 : 1));
  return line;
}

// Whether `line` is a field of that name; then its value is in `value`.
bool is_field(std::string_view line, std::string_view name, std::string_view& value) {
  if (!line.starts_with(name)) return false;
  value = line.substr(name.size());
  if (value.empty()) return true;
  if (value.front() != ':') return false;
  value.remove_prefix(value.size() > 1 && value[1] == ' ' ? 2 : 1);
  return true;
}

}  // namespace

Result<bool> SseScanner::next(std::string_view& rest, SseEvent& event) {
  if (delivered_) drop_buffer();
  if (next_at_sight(rest, event)) return true;
  while (!failed_ && !rest.empty()) {
    if (bom_ != kBomPassed) {
      take_bom(rest);
      continue;
    }
    const Found found = find_end(rest);
    if (found.begin > 0) drop_buffer();
    const std::string_view part = rest.substr(found.begin, found.taken - found.begin);
    failed_ = buffer_.size() + part.size() > limits_.event_bytes_max;
    if (failed_) break;
    rest.remove_prefix(found.taken);
    if (!found.ended) {
      buffer_.append(part);
      return false;
    }
    if (!buffer_.empty()) buffer_.append(part);
    delivered_ = dispatch(buffer_.empty() ? part : std::string_view(buffer_), event);
    if (delivered_) return true;
    drop_buffer();
  }
  if (!failed_) return false;
  drop_buffer();
  return fail(ErrorCode::kUpstreamProtocol,
              concat("an event of the stream has more than ", limits_.event_bytes_max, " bytes"));
}

// What nearly every read begins with: a whole event of one data line, ended by two LF. Nothing has
// begun before it, nothing is left of it, so no state changes.
bool SseScanner::next_at_sight(std::string_view& rest, SseEvent& event) const {
  constexpr std::string_view kData = "data: ";
  const bool at_start =
      bom_ == kBomPassed && line_empty_ && only_comments_ && !after_cr_ && buffer_.empty();
  if (!at_start || failed_ || !rest.starts_with(kData)) return false;
  const size_t end = find_line_end(rest, kData.size());
  if (rest.size() - end < 2 || rest[end] != '\n' || rest[end + 1] != '\n') return false;
  if (end + 2 > limits_.event_bytes_max) return false;
  event.type = {};
  event.data = rest.substr(kData.size(), end - kData.size());
  rest.remove_prefix(end + 2);
  return true;
}

// A byte order mark may stand at the start of the stream and nowhere else.
void SseScanner::take_bom(std::string_view& rest) {
  while (bom_ < kBomBytes && !rest.empty() && rest.front() == kBom[bom_]) {
    ++bom_;
    rest.remove_prefix(1);
  }
  if (bom_ < kBomBytes && rest.empty()) return;
  if (inside_bom()) {  // it was none: its bytes begin the first line
    buffer_ = kBom.substr(0, bom_);
    line_empty_ = false;
  }
  bom_ = kBomPassed;
}

// Goes on to the end of the event that is being read, or through all of `in`, which is not empty.
SseScanner::Found SseScanner::find_end(std::string_view in) {
  Found found;
  size_t at = 0;
  if (after_cr_ && in.front() == '\n') {
    at = 1;
    if (buffer_.empty()) found.begin = 1;
  }
  after_cr_ = false;
  while (at < in.size() && !found.ended) {
    const size_t end = find_line_end(in, at);
    if (line_empty_ && end > at) {
      line_empty_ = false;
      line_comment_ = in[at] == ':';
    }
    at = end;
    if (end == in.size()) break;
    ++at;
    if (in[end] == '\r') {
      after_cr_ = at == in.size();
      if (!after_cr_ && in[at] == '\n') ++at;
    }
    found.ended = line_empty_;
    only_comments_ = only_comments_ && !line_empty_ && line_comment_;
    line_empty_ = true;
    if (only_comments_) found.begin = at;
  }
  if (found.ended) only_comments_ = true;
  found.taken = at;
  return found;
}

// Reads the lines of one whole event. False when it has no data.
bool SseScanner::dispatch(std::string_view lines, SseEvent& event) {
  event = {};
  size_t data_lines = 0;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::string_view line = take_line(rest);
    std::string_view value;
    if (is_field(line, "data", value)) {
      if (++data_lines == 1) event.data = value;
    } else if (is_field(line, "event", value)) {
      event.type = value;
    }
  }
  if (data_lines > 1) join(lines, event);
  return data_lines > 0;
}

// Puts the values of all data lines and the type into buffer_, which `lines` may be.
void SseScanner::join(std::string_view lines, SseEvent& event) {
  std::string joined;
  joined.reserve(lines.size());
  for (std::string_view rest = lines; !rest.empty();) {
    std::string_view value;
    if (is_field(take_line(rest), "data", value)) joined.append(value).append("\n");
  }
  const size_t data_bytes = joined.size() - 1;
  joined.append(event.type);
  const size_t type_bytes = event.type.size();
  buffer_ = std::move(joined);
  const std::string_view all = buffer_;
  event.data = all.substr(0, data_bytes);
  event.type = all.substr(data_bytes + 1, type_bytes);
}

void SseScanner::drop_buffer() {
  delivered_ = false;
  buffer_.clear();
  // Assigning an empty string would keep the memory.
  if (buffer_.capacity() > kKeptBytes) std::string().swap(buffer_);
}

}  // namespace hw::http
