// Stamps: points in time of an exchange and of each attempt, in nanoseconds since the exchange's
// first byte. Written once; absent is absent, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/clock.h"

namespace hw::timeline {

// Points of the exchange, in the order in which they happen.
enum class ExchangeStamp : uint8_t {
  kArrived,     // first byte of the head; always 0
  kHeadRead,    // request head complete
  kBodyRead,    // request body complete: the caller has said everything
  kAuthorized,  // key, limits and facts known
  kAdmitted,    // left the admission queue
  kFinished,    // last byte handed to the client's socket, or the exchange given up
};
inline constexpr int kExchangeStampCount = 6;

// Points of one attempt, in the order in which they happen on a plain streamed answer.
enum class AttemptStamp : uint8_t {
  kBegun,         // channel chosen
  kLeased,        // a place in the pool is ours: pool wait ends
  kResolved,      // name looked up; this and the next two only on a new connection
  kConnected,     // TCP connected
  kSecured,       // TLS handshake done
  kSent,          // last request byte accepted by the kernel
  kHead,          // response head complete
  kFirstByte,     // first byte of the response body
  kFirstFrame,    // first event of any kind
  kFirstToken,    // first event that carries generated text, any channel
  kFirstVisible,  // first token that is not reasoning
  kLastToken,     // last token so far
  kTerminal,      // the dialect's final event
  kClosed,        // response complete, or the attempt failed
  kResumed,       // back-off after a failed attempt is over
};
inline constexpr int kAttemptStampCount = 15;

// The stamp's name in the call record: "arrived", "head_read", ... and "begun", "leased", ...
std::string_view stamp_name(ExchangeStamp stamp);
std::string_view stamp_name(AttemptStamp stamp);

// A set of write-once stamps of one enum.
template <class Enum, int kCount>
class StampSet {
 public:
  static constexpr Nanos kAbsent = -1;
  StampSet() { at_.fill(kAbsent); }
  bool has(Enum stamp) const { return at_[index(stamp)] != kAbsent; }
  // The stamp's offset; kAbsent (-1) where it was not set.
  Nanos get(Enum stamp) const { return at_[index(stamp)]; }
  // Sets the stamp unless it is there already; negative offsets become 0.
  void set_once(Enum stamp, Nanos offset) {
    if (!has(stamp)) at_[index(stamp)] = offset < 0 ? 0 : offset;
  }
  // For the one stamp that moves, kLastToken.
  void move_to(Enum stamp, Nanos offset) { at_[index(stamp)] = offset; }
  friend bool operator==(const StampSet&, const StampSet&) = default;

 private:
  static size_t index(Enum stamp) { return static_cast<size_t>(stamp); }
  std::array<Nanos, kCount> at_;
};

// The stamps of an exchange and those of an attempt.
using ExchangeStamps = StampSet<ExchangeStamp, kExchangeStampCount>;
using AttemptStamps = StampSet<AttemptStamp, kAttemptStampCount>;

}  // namespace hw::timeline
