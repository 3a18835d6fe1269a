// ResponseReader: takes an answer apart as it is received: informational heads skipped, the head,
// then the body's bytes without their framing. Sans-I/O, any split.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/chunked.h"
#include "http/head.h"

namespace hw::http {

class ResponseReader {
 public:
  // What next() found.
  enum class Kind : uint8_t {
    kMore,  // all bytes are used; feed what is read next
    kHead,  // the head is complete: see head given to next()
    kBody,  // a piece of the body
    kEnd,   // the answer is complete; bytes left over do not belong to it
  };
  // One find.
  struct Step {
    Kind kind = Kind::kMore;
    std::string_view body;  // with kBody: a view into the bytes given
  };

  // `method` of the request decides about the body of an answer to HEAD; must outlive the reader.
  ResponseReader(const HeadLimits& limits, std::string_view method)
      : limits_(limits), method_(method) {}

  // Takes from the front of `rest` what makes the next step. With kHead `head` is filled; its views
  // live until the next call or until the bytes given go. Errors: kUpstreamProtocol.
  Result<Step> next(std::string_view& rest, ResponseHead& head);
  // Copies the bytes of the head that next() filled last, so that its views stay when those that
  // were given to next() go. Costs nothing where the head came in several reads.
  void keep_head(ResponseHead& head);
  // The connection ended. True when that ends the answer properly (a body until close).
  bool end_of_input();

  // next() has said kHead.
  bool head_seen() const { return state_ != State::kHead; }
  // next() has said kEnd.
  bool done() const { return state_ == State::kEnd; }
  // The body is all there though next() has not said kEnd yet: it needs no further byte to do so.
  bool body_exhausted() const {
    return state_ == State::kNone || (state_ == State::kLength && left_ == 0);
  }
  // The connection may serve another request after this answer.
  bool reusable() const { return done() && keep_alive_; }

 private:
  enum class State : uint8_t { kHead, kNone, kLength, kChunked, kUntilClose, kEnd };
  Result<Step> read_head(std::string_view& rest, ResponseHead& head);
  Result<Step> read_body(std::string_view& rest);

  const HeadLimits& limits_;
  std::string_view method_;
  State state_ = State::kHead;
  bool keep_alive_ = false;
  uint64_t left_ = 0;
  HeadScanner scanner_;
  std::string head_bytes_;      // a head that came in several reads, or is kept
  std::string_view head_view_;  // the head in the bytes given; empty: in head_bytes_
  ChunkDecoder chunks_{ErrorCode::kUpstreamProtocol};
};

}  // namespace hw::http
