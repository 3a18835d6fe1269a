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
#include "http/fields.h"
#include "http/limits.h"

namespace hw::http {

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

}  // namespace hw::http
