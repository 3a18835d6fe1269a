// Heads of HTTP/1.x messages: bytes in, views out, strict where leniency would let a request
// smuggle (RFC 9110 §5, RFC 9112 §2–7, §9.3, §11).
//
// Normal flow: append what was read to a buffer and parse the buffer's unread part; 0 means that
// more bytes are needed. A HeadScanner remembers how far the last call looked, so that a head in
// many small reads costs no more than one in a single read. The views point into the bytes given,
// which must stay where they are for as long as the head is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/limits.h"

namespace hw::http {

// One header field; the value is without blanks at its ends, never has CR, LF or NUL in it, and may
// have bytes above 0x7f (obs-text).
struct Field {
  std::string_view name;
  std::string_view value;
};

// The fields of a head in their order, at most kFieldsMax. 4 KiB: keep one per loop, not one per
// connection.
class Fields {
 public:
  Fields() {}  // leaves the storage as it is: zeroing 4 KiB would cost more than a small head

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Field* begin() const { return reinterpret_cast<const Field*>(storage_); }
  const Field* end() const { return begin() + size_; }
  const Field& operator[](size_t i) const { return begin()[i]; }

  // The first field of that name, ASCII case ignored; null where there is none.
  const Field* find(std::string_view name) const;
  // Its value, or an empty view.
  std::string_view value(std::string_view name) const;
  // How many fields have that name.
  size_t count(std::string_view name) const;

  void clear() { size_ = 0; }
  // False when it is full.
  bool add(std::string_view name, std::string_view value);

 private:
  size_t size_ = 0;
  alignas(Field) unsigned char storage_[kFieldsMax * sizeof(Field)];
};

// How the end of a message's body is found (RFC 9112 §6.3). kUntilClose occurs in responses only.
enum class BodyFraming : uint8_t { kNone, kLength, kChunked, kUntilClose };

// What a request's head says.
struct RequestHead {
  std::string_view method;
  std::string_view target;  // as it came: origin-form, absolute-form or *
  std::string_view path;    // origin-form of the target, query included; * for *
  std::string_view host;    // authority of an absolute target, else the Host field; may be empty
  int minor = 1;            // HTTP/1.minor; above 1 reads as 1
  Fields fields;
  BodyFraming framing = BodyFraming::kNone;
  uint64_t content_length = 0;  // with kLength; 0 there means an empty body
  bool keep_alive = true;
  bool expect_continue = false;  // the client waits for 100 before it sends the body
  bool upgrade = false;          // Connection: upgrade together with an Upgrade field
  size_t size = 0;               // bytes of the head, a skipped leading CRLF included
};

// What a response's head says.
struct ResponseHead {
  int status = 0;  // 100 to 999
  std::string_view reason;
  int minor = 1;
  Fields fields;
  BodyFraming framing = BodyFraming::kNone;
  uint64_t content_length = 0;
  bool keep_alive = true;
  size_t size = 0;
};

// Finds the blank line that ends a head, over any number of reads. Reset it for each message.
class HeadScanner {
 public:
  // Size of the head at the start of `bytes`, its blank line included, 0 while it is incomplete.
  // `bytes` begins where it began in the calls before, and only grows. Fails with kBadRequest on a
  // line that ends in a bare LF, with kHeadTooLarge when head_bytes_max bytes hold no end.
  Result<size_t> scan(std::string_view bytes, size_t head_bytes_max);
  void reset() { *this = {}; }

 private:
  size_t scanned_ = 0;
  size_t line_begin_ = 0;
};

// Parses the request head at the start of `bytes`: its size, 0 while bytes are missing. Errors:
// kBadRequest or kHeadTooLarge, the message says what is wrong and repeats no value. One CRLF
// before the request line is skipped (RFC 9112 §2.2).
Result<size_t> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                  HeadScanner& scanner, RequestHead& out);
// The same for bytes that were not looked at before.
Result<size_t> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                  RequestHead& out);

// Parses the response head at the start of `bytes`; `request_method` decides about the body of an
// answer to HEAD. 1xx is given like any other: ask again behind its `size`. 101 is an error, since
// Headway never asks for it. Every error is kUpstreamProtocol.
Result<size_t> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                   std::string_view request_method, HeadScanner& scanner,
                                   ResponseHead& out);
Result<size_t> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                   std::string_view request_method, ResponseHead& out);

// One line `name: value` without its CRLF, by the rules of heads; for trailers. Null when it is
// fine, else what is wrong with it.
const char* parse_field_line(std::string_view line, Field& out);

// RFC 9110 §5.6.2: one or more token characters.
bool is_token(std::string_view text);
// RFC 9110 §5.5: no control characters but HTAB, no blank at either end; may be empty.
bool is_field_value(std::string_view text);

// Connection, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding, Upgrade,
// Proxy-Authenticate and Proxy-Authorization: of one connection, never passed on (RFC 9110 §7.6.1).
bool is_hop_by_hop(std::string_view name);

// Answers is_hop_by_hop for one head, the names listed in its Connection fields included. Made once
// for a head; refers to its bytes.
class HopByHop {
 public:
  explicit HopByHop(const Fields& fields);
  // Whether a field of that name stays behind.
  bool drops(std::string_view name) const;

 private:
  const Fields& fields_;
  bool lists_names_ = false;  // Connection has more than close and keep-alive
};

}  // namespace hw::http
