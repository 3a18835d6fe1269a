// UsageFilter: hides the usage chunk that we asked for and the caller did not.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "wire/stream_observer.h"

namespace hw::wire {

// Passes a stream on in whole events and leaves out those that are usage only; comments and every
// other byte stay. One per answer, fed beside the observer:
//
//   auto events = observer.feed(bytes);
//   write(filter.feed(bytes, *events, scratch));
//   at the end: write(filter.finish());
class UsageFilter {
 public:
  // An event that is not complete yet is held back up to this size, so that no part of a usage
  // chunk leaks. A longer one is no usage chunk and passes as it comes.
  static constexpr size_t kHeldBytesMax = 64 * 1024;

  // What to relay of `bytes`, given the events that they completed. The view points into `bytes`
  // where nothing was held or left out, else into `scratch`, which is overwritten.
  std::string_view feed(std::string_view bytes, std::span<const EventFacts> events,
                        std::string& scratch);
  // The bytes held back; call it when the stream has ended. Valid while the filter lives.
  std::string_view finish() const { return held_; }
  // Bytes held back: a heartbeat may only be sent while there are none.
  size_t held() const { return held_.size(); }
  // Events left out so far.
  size_t hidden() const { return hidden_; }

 private:
  std::string held_;
  bool passing_ = false;  // inside an event that is too long to hold
  size_t hidden_ = 0;
};

}  // namespace hw::wire
