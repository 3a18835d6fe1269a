// The times of token events and the gaps between them, each with its cause.
//
// Owned by one exchange, written by its loop only. Times are delta-coded in microseconds with the
// cause in the low bits, bounded to kBytesMax; what comes after goes into a log-linear histogram,
// so that a stream of any length has a count, quantiles and its longest gaps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/histogram.h"

namespace hw::timeline {

// Who made the reader wait between two token events.
enum class GapCause : uint8_t {
  kUpstream,  // the upstream was silent
  kGateway,   // the bytes were there and this loop was late
  kClient,    // the client was not reading: our writes were blocked
};
// "upstream", "gateway", "client".
std::string_view gap_cause_name(GapCause cause);

// One long gap: where it began (offset from arrived) and how long it was.
struct Gap {
  Nanos at = 0;
  Nanos length = 0;
  GapCause cause = GapCause::kUpstream;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// What a finished call keeps of its gaps.
struct GapSummary {
  uint64_t count = 0;  // gaps, i.e. token events less one
  Nanos p50 = 0, p99 = 0, max = 0;
  std::array<uint64_t, 3> count_by_cause{};  // indexed by GapCause
  std::array<Nanos, 3> time_by_cause{};
  static constexpr int kLongest = 5;
  std::array<Gap, kLongest> longest{};  // longest first; unused ones have length 0
  friend bool operator==(const GapSummary&, const GapSummary&) = default;
};

// Decides the cause of a gap of `length`: `client_blocked` is how long our writes to the client
// were blocked within it, `gateway_late` how long the bytes had waited for this loop. The larger
// share wins when it is at least half of the gap; otherwise the upstream was silent.
GapCause attribute_gap(Nanos length, Nanos client_blocked, Nanos gateway_late);

// Records token events of one stream, straight into the call's record.
class TokenTimes {
 public:
  // `totals` and `encoded` are the call's, empty, and outlive this. Nobody else writes them.
  TokenTimes(GapSummary& totals, std::string& encoded) : totals_(totals), encoded_(encoded) {}
  static constexpr size_t kBytesMax = 8192;  // about 2,700 tokens 30 ms apart

  // A token event at offset `at`; several events of one read share their time and make gaps of 0.
  // `client_blocked` and `gateway_late` belong to the time since the previous token event. Returns
  // the gap that this event closes: its length is 0 and `first` true for the first event.
  struct Added {
    bool first = false;
    Gap gap;
  };
  Added add(Nanos at, Nanos client_blocked, Nanos gateway_late);

  // Token events so far.
  uint64_t events() const { return events_; }
  // What the record keeps of the gaps: the totals so far, with their quantiles.
  GapSummary summary() const;
  // The delta-coded times, for the journal; decode with decode_token_times().
  std::string_view encoded() const { return encoded_; }

 private:
  void keep_longest(const Gap& gap);
  void encode(const Gap& gap);

  GapSummary& totals_;
  std::string& encoded_;
  std::unique_ptr<Histogram> overflow_;  // made when encoded_ is full
  uint64_t events_ = 0;
  Nanos last_ = 0;
  Nanos last_coded_ = 0;  // last_ as the microsecond coding sees it, so that rounding never adds up
};

// One decoded token event.
struct TokenTime {
  Nanos at = 0;  // offset from arrived, to the microsecond
  GapCause cause = GapCause::kUpstream;
};
// Reads the next event off `encoded`, relative to `previous`; false at the end or where the bytes
// are damaged.
bool next_token_time(std::string_view& encoded, const TokenTime& previous, TokenTime& out);

}  // namespace hw::timeline
