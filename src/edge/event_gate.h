// EventGate: passes a stream on in whole events, so that an error event or a heartbeat can follow
// at any time, and hides the usage chunk that we asked for and the caller did not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/stream_observer.h"

namespace hw::edge {

// Which events the caller is not to see.
enum class Hide : uint8_t { kNothing, kUsageChunks };

// Holds back an event that has begun and is not complete; comments, blank lines and every other
// byte pass at once and unchanged. What a client gets thus always ends at an event's end, also when
// the upstream breaks in the middle of one. One per answer, fed beside the observer:
//
//   auto events = observer.feed(bytes);
//   write(gate.feed(bytes, *events, scratch));
//   when the stream has ended as it should: write(gate.held());
//   when it broke: drop what is held; if (!gate.at_boundary()) write("\n\n"); write the error event
class EventGate {
 public:
  // An incomplete event is held up to this size. A longer one passes as it comes and is never
  // hidden; a usage chunk has a few hundred bytes.
  static constexpr size_t kHeldBytesMax = 64 * 1024;

  explicit EventGate(Hide hide) : hide_(hide) {}

  // What to relay of `bytes`, given the events that they completed. The view points into `bytes`
  // where nothing was held or left out, else into `scratch`, which is overwritten.
  std::string_view feed(std::string_view bytes, std::span<const wire::EventFacts> events,
                        std::string& scratch);
  // The bytes held back. An event that no blank line has ended: clients drop it.
  std::string_view held() const { return held_; }
  // What was relayed ends between two events: something may be put in.
  bool at_boundary() const { return place_ == Place::kLineStart || place_ == Place::kHolding; }
  // Events left out so far.
  size_t hidden() const { return hidden_; }

 private:
  // Where in the stream the next byte stands.
  enum class Place : uint8_t {
    kLineStart,  // between two events, at the start of a line
    kComment,    // between two events, inside a comment line that was relayed in part
    kHolding,    // inside an event; held_ has what came of it
    kPassing,    // inside an event that is too long to hold
  };

  bool hides(std::span<const wire::EventFacts> events) const;
  size_t take_tail(std::string_view tail);
  bool give_up_holding();
  void relay_without_event(std::string& out);

  Hide hide_;
  Place place_ = Place::kLineStart;
  std::string held_;
  size_t hidden_ = 0;
};

}  // namespace hw::edge
