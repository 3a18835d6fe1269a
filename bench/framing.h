// Just enough HTTP/1.1 framing for the benchmark's own programs. They face only each other and the
// gateway under test, and keep away from the product's codec on purpose: a mistake there must not
// hide itself here.
#pragma once

#include <cstdint>
#include <string_view>

namespace hw::bench {

enum class HeadState { kIncomplete, kComplete, kMalformed };

// What framing needs of a message head. The views point into the parsed bytes.
struct MessageHead {
  std::string_view start_line;
  std::string_view fields;      // the field lines, each with its CRLF
  size_t size_bytes = 0;        // up to and with the empty line
  int64_t content_length = -1;  // -1: no such field
  bool chunked = false;
};

// Reads a request's or a response's head from the start of `bytes`; heads above 64 KiB are
// malformed.
HeadState parse_head(std::string_view bytes, MessageHead& head);

// The value of a field, found without regard to case; empty when absent.
std::string_view field_value(const MessageHead& head, std::string_view name);

// The status of a response's start line; 0 when there is none.
int status_of(const MessageHead& head);

// Walks over one body, by its length or its chunks, and gives the payload to a sink.
class BodyWalk {
 public:
  // Begins a body. One with neither length nor chunks is empty.
  void begin(const MessageHead& head);

  bool done() const { return state_ == State::kDone; }
  bool malformed() const { return state_ == State::kMalformed; }

  // Takes bytes from the front of `bytes`, calls `sink(std::string_view)` for each piece of
  // payload and returns how many bytes belonged to this body.
  template <typename Sink>
  size_t feed(std::string_view bytes, Sink&& sink) {
    size_t at = 0;
    while (at < bytes.size() && !done() && !malformed()) {
      if (state_ == State::kPayload) {
        std::string_view piece = bytes.substr(at, static_cast<size_t>(left_));
        sink(piece);
        left_ -= static_cast<int64_t>(piece.size());
        at += piece.size();
        if (left_ == 0) state_ = chunked_ ? State::kPayloadEnd : State::kDone;
      } else {
        framing_byte(bytes[at++]);
      }
    }
    return at;
  }

 private:
  enum class State { kSize, kExtension, kPayload, kPayloadEnd, kTrailer, kDone, kMalformed };

  void framing_byte(char byte);
  void size_byte(char byte);
  void size_line_ended();

  State state_ = State::kDone;
  bool chunked_ = false;
  int64_t left_ = 0;            // payload bytes until the end of the body or chunk
  int trailer_line_bytes_ = 0;  // of the trailer line being read
};

}  // namespace hw::bench
