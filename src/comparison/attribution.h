// Attribution: which share of a change is whose: the model's, the queue's, the gateway's, the
// link's, the traffic's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comparison/run.h"

namespace hw::comparison {

// Who made the difference.
enum class Cause : unsigned char {
  kMix,       // other requests: lengths, buckets
  kQueue,     // waiting inside the engine
  kPrefill,   // computing prompts
  kDecode,    // computing tokens
  kGateway,   // the gateway's own stages
  kLink,      // networks and interfaces
  kUpstream,  // model or link; nobody told them apart
};
// "mix", "queue", ...
std::string_view cause_name(Cause cause);

// A share of the change, 1 for all of it; negative where it worked against it. The interval, 95 %,
// is absent with one run on a side.
struct Share {
  Cause cause = Cause::kUpstream;
  double share = 0;
  std::optional<double> low, high;
};

// What the shape of the records gives away; each is evidence, not a share.
enum class Signature : unsigned char {
  kBuffering,       // first tokens late, gaps shorter, events together in one read
  kDelayedAck,      // gaps of about 40 ms: Nagle's algorithm against delayed acknowledgements
  kRetransmission,  // a second hump 200 ms and more above: packets lost
  kReconnecting,    // connections are dialled anew more often
  kColdStart,       // only the first requests are slow
  kCacheLost,       // fewer prompt tokens came from the prefix cache
  kRoundTrip,       // probes or handshakes take longer
  kLoadChanged,     // another rate was offered
  kLongerWait,      // time before the prompt grew: alpha of TTFT = alpha + beta * tokens
  kSlowerPrefill,   // time a prompt token grew: beta
};
// "buffering", ...
std::string_view signature_name(Signature signature);

// With the numbers that it rests on, base and new, in the signature's own unit.
struct Evidence {
  Signature signature = Signature::kRoundTrip;
  double base = 0, next = 0;
};

// The answer for one metric.
struct Attribution {
  std::string metric;   // "ttft" or "tpot"
  double quantile = 0;  // of all requests
  double base_ms = 0, next_ms = 0;
  double change = 0;          // next / base - 1
  bool is_changed = false;    // beyond the metric's margin
  std::vector<Share> shares;  // largest first; they sum to 1
  std::vector<Evidence> evidence;
  double uncovered = 0;          // share of new requests whose like the base never saw
  bool gateway_missing = false;  // gateway's stages and engine's times are not in the records
  std::optional<Cause> verdict;  // the main cause: the largest share, or what the evidence says
};

// Splits the change of whichever of TTFT P50, TTFT P95 and TPOT P50 over all requests changed most:
// traffic by reweighting (DiNardo, Fortin, Lemieux 1996) in cells of bucket, input and cached
// length; the rest by the parts of requests near the quantile (Euler allocation), which sum to it
// exactly. Intervals by resampling runs. Precondition: a run on each side.
Attribution attribute(const std::vector<Run>& base, const std::vector<Run>& next);

}  // namespace hw::comparison
