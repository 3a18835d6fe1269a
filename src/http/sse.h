// Finds the events in a byte stream of type text/event-stream (WHATWG HTML §9.2.6), over any reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/limits.h"

namespace hw::http {

// One dispatched event.
struct SseEvent {
  std::string_view type;  // of the `event` field; empty stands for "message"
  std::string_view data;  // `data` lines joined with LF; may be empty
};

// Pulls events out of the reads of one stream.
//
//   std::string_view rest = read;                 // what the socket gave, stamped before
//   SseEvent event;
//   for (;;) {
//     Result<bool> found = scanner.next(rest, event);
//     if (!found) return fail(found.error());
//     if (!*found) break;                         // rest is empty: an unfinished event is kept
//     observe(event, offset = read.size() - rest.size());
//   }
//
// An event's views are valid until the next call and while `rest`'s bytes are. They point into
// `rest` when the event lies in it whole and has one data line, else into an inner buffer. Lines
// end in LF, CRLF or CR; a CR ends its line at once, a LF that comes after it in a later read is
// swallowed. Comments, `id`, `retry` and unknown fields are read over; a blank line without data
// dispatches nothing. Between events the scanner holds at most 1 KiB.
class SseScanner {
 public:
  explicit SseScanner(const SseLimits& limits = {}) : limits_(limits) {}

  // The next event that `rest` completes: true, with `rest` moved just behind its blank line. False
  // when it completes none: `rest` is empty then. kUpstreamProtocol when an event grows beyond
  // event_bytes_max; every later call fails too.
  Result<bool> next(std::string_view& rest, SseEvent& event);

  // No event has begun: a comment or an event of ours may be written behind what was read.
  bool at_boundary() const { return pending().empty() && !inside_bom(); }
  // Raw bytes of the event that has begun, its end still missing; for a look at what a broken
  // stream said last. Empty at a boundary.
  std::string_view pending() const {
    return delivered_ ? std::string_view() : std::string_view(buffer_);
  }

 private:
  // What find_end saw in a read.
  struct Found {
    size_t begin = 0;  // bytes before it belong to no event
    size_t taken = 0;
    bool ended = false;  // the byte before `taken` ended a blank line
  };
  static constexpr uint8_t kBomBytes = 3;
  static constexpr uint8_t kBomPassed = 4;

  bool inside_bom() const { return bom_ > 0 && bom_ < kBomBytes; }
  bool next_at_sight(std::string_view& rest, SseEvent& event) const;
  void take_bom(std::string_view& rest);
  Found find_end(std::string_view in);
  bool dispatch(std::string_view lines, SseEvent& event);
  void join(std::string_view lines, SseEvent& event);
  void drop_buffer();

  SseLimits limits_;
  std::string buffer_;         // the unfinished event, or the joined data of the last one
  bool delivered_ = false;     // buffer_ is in the caller's hands until the next call
  bool line_empty_ = true;     // the line that is being read has no byte yet
  bool line_comment_ = false;  // it began with a colon
  bool only_comments_ = true;  // nothing else since the last event
  bool after_cr_ = false;      // a LF now belongs to the line before
  bool failed_ = false;
  uint8_t bom_ = 0;  // bytes of a byte order mark seen at the start of the stream
};

}  // namespace hw::http
