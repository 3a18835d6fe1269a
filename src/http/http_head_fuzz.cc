// Heads: the result does not depend on how the bytes were cut, every view lies in them, and what
// was understood is understood the same when it is written again.
#include "http/head.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "http/writer.h"

namespace hw::http {
namespace {

HeadLimits small_limits() {
  HeadLimits limits;
  limits.head_bytes_max = 2048;
  limits.fields_max = 24;
  limits.target_bytes_max = 256;
  return limits;
}
const HeadLimits kLimits = small_limits();

Result<size_t> parse(std::string_view bytes, HeadScanner& scanner, RequestHead& head) {
  return parse_request_head(bytes, kLimits, scanner, head);
}
Result<size_t> parse(std::string_view bytes, HeadScanner& scanner, ResponseHead& head) {
  return parse_response_head(bytes, kLimits, "POST", scanner, head);
}

void check_inside(std::string_view view, std::string_view bytes) {
  HW_ASSERT(view.empty() ||
            (view.data() >= bytes.data() && view.end() <= bytes.data() + bytes.size()));
}

void check_fields(const Fields& fields, std::string_view bytes) {
  HW_ASSERT(fields.size() <= kLimits.fields_max);
  for (const Field& field : fields) {
    check_inside(field.name, bytes);
    check_inside(field.value, bytes);
    HW_ASSERT(is_token(field.name) && is_field_value(field.value));
    HW_ASSERT(fields.find(field.name) != nullptr);
  }
}

template <class Head>
void check_same(const Head& a, const Head& b) {
  HW_ASSERT(a.framing == b.framing && a.content_length == b.content_length);
  HW_ASSERT(a.keep_alive == b.keep_alive && a.minor == b.minor);
  HW_ASSERT(a.fields.size() == b.fields.size());
  for (size_t i = 0; i < a.fields.size(); ++i) {
    HW_ASSERT(a.fields[i].name == b.fields[i].name && a.fields[i].value == b.fields[i].value);
  }
}

std::string start_line(const RequestHead& head) {
  std::string out;
  append_request_line(out, head.method, head.target);
  return out;
}
std::string start_line(const ResponseHead& head) {
  std::string out;
  append_status_line(out, head.status);
  return out;
}

template <class Head>
void check_again(const Head& head) {
  if (head.minor == 0) return;  // it would be written as 1.1, which asks for more
  std::string bytes = start_line(head);
  for (const Field& field : head.fields) append_field(bytes, field.name, field.value);
  append_head_end(bytes);
  if (bytes.size() > kLimits.head_bytes_max) return;  // "a:b" is written as "a: b"
  Head again;
  HeadScanner scanner;
  const Result<size_t> size = parse(bytes, scanner, again);
  HW_ASSERT(size && *size == bytes.size());
  check_same(head, again);
}

template <class Head>
void check(std::string_view bytes, size_t step) {
  Head whole;
  HeadScanner whole_scanner;
  const Result<size_t> expected = parse(bytes, whole_scanner, whole);
  Head head;
  HeadScanner scanner;
  Result<size_t> size = size_t{0};
  for (size_t seen = 0; seen < bytes.size() && size && *size == 0;) {
    seen = std::min(seen + step, bytes.size());
    size = parse(bytes.substr(0, seen), scanner, head);
  }
  HW_ASSERT(size.has_value() == expected.has_value());
  if (!size) {
    HW_ASSERT(size.error().code == expected.error().code);
    return;
  }
  HW_ASSERT(*size == *expected && *size <= bytes.size());
  if (*size == 0) return;
  check_same(head, whole);
  check_fields(head.fields, bytes);
  check_again(head);
}

}  // namespace
}  // namespace hw::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::vector<char> copy(data + 1, data + size);  // ends where the bytes end, for ASan
  const std::string_view bytes(copy.data(), copy.size());
  const size_t step = 1 + (data[0] & 0x7f);
  if ((data[0] & 0x80) != 0) {
    hw::http::check<hw::http::ResponseHead>(bytes, step);
  } else {
    hw::http::check<hw::http::RequestHead>(bytes, step);
  }
  return 0;
}
