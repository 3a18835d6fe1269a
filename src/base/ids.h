// Identifiers that Headway makes: request ids that sort by time, trace ids of W3C traceparent.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/random.h"

namespace hw {

// "req_" and 26 characters of Crockford base 32: 48 bits of milliseconds since 1970, then 80 random
// bits (the layout of a ULID). Sorts by time; unique without coordination.
class RequestId {
 public:
  static constexpr size_t kSize = 30;
  RequestId() { text_.fill('0'); }
  // Draws a new id; `wall` is the time it carries.
  static RequestId make(Nanos wall, Random& random);
  // The id in `text`, or false where `text` is none of ours.
  static bool parse(std::string_view text, RequestId& out);
  std::string_view view() const { return {text_.data(), kSize}; }
  // The wall time that the id carries, to the millisecond.
  Nanos wall() const;
  // The id as 16 bytes that sort like it, and back: how records keep it.
  std::array<uint8_t, 16> bytes() const;
  // The same as two numbers, the more significant one first.
  std::pair<uint64_t, uint64_t> halves() const { return {high_, low_}; }
  static RequestId from_bytes(const std::array<uint8_t, 16>& bytes);
  friend bool operator==(const RequestId&, const RequestId&) = default;

 private:
  void write_text();
  void read_text();

  uint64_t high_ = 0, low_ = 0;
  std::array<char, kSize> text_;  // the same, since it goes into two heads
};

// 16 bytes of a W3C trace id, printed as 32 hex digits (https://www.w3.org/TR/trace-context/).
struct TraceId {
  uint64_t high = 0, low = 0;
  static TraceId make(Random& random) { return {random.next() | 1, random.next()}; }
  // The trace of a request that came without one: the bytes of its id, so that a look-up by trace
  // needs no index of its own. Its last 80 bits are random, as the recommendation asks of the
  // last 56.
  static TraceId of(const RequestId& id);
  // 32 hex digits of either case; false for anything else.
  static bool parse(std::string_view hex, TraceId& out);
  std::string hex() const;
  void append_hex(std::string& out) const;
  // Writes the 32 digits, without an end.
  static constexpr size_t kHexSize = 32;
  void write_hex(char* digits) const;
  friend bool operator==(const TraceId&, const TraceId&) = default;
};

// A traceparent header's parts; valid() is false for anything that the recommendation rejects.
struct TraceParent {
  TraceId trace;
  uint64_t parent = 0;
  uint8_t flags = 0;
  bool valid() const { return (trace.high | trace.low) != 0 && parent != 0; }
  // Reads a header; invalid where the recommendation rejects it.
  static TraceParent parse(std::string_view header);
  // `00-<trace>-<parent>-<flags>`, appended to `out`, or written without an end.
  void append(std::string& out) const;
  static constexpr size_t kSize = 55;
  void write(char* text) const;
};

// Lower-case hex of `size` bytes, appended.
void append_hex(std::string& out, const void* bytes, size_t size);

}  // namespace hw
