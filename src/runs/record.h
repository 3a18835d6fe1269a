// Record: one logical request of a sampler run, as one line of requests.jsonl holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::runs {

// How a request ended, as the client saw it.
enum class RequestOutcome : uint8_t {
  kOk,
  kHttpError,
  kRateLimited,
  kStreamError,
  kEmpty,
  kTimeout,
  kConnectError,
  kProtocolError,
  kCancelled,  // cut by us: counted apart, neither ok nor failed
  kDropped,    // never sent, because of a cap: likewise
};
inline constexpr int kRequestOutcomeCount = static_cast<int>(RequestOutcome::kDropped) + 1;

// The word in the file ("http_error"), and back; nothing for an unknown word.
std::string_view outcome_name(RequestOutcome outcome);
std::optional<RequestOutcome> parse_outcome(std::string_view name);
// Everything but ok, cancelled and dropped.
bool is_failed(RequestOutcome outcome);

// Which part of the answer a token belongs to.
enum class TokenChannel : uint8_t { kContent, kReasoning, kTool, kRefusal };

// The word in the file, and back; nothing for an unknown word.
std::string_view channel_name(TokenChannel channel);
std::optional<TokenChannel> parse_channel(std::string_view name);

// Where a request stood in the run. Only kSteady enters statistics.
enum class Phase : uint8_t { kWarmup, kRamp, kSteady, kDrain };

// The word in the file, and back; nothing for an unknown word.
std::string_view phase_name(Phase phase);
std::optional<Phase> parse_phase(std::string_view name);

// One event of the stream that carried generated text.
struct TokenEvent {
  Nanos at = 0;  // when the read returned that completed the event
  TokenChannel channel = TokenChannel::kContent;
  uint32_t bytes = 0;           // of text
  uint32_t events_in_read = 1;  // token events that this read completed; above 1: coalesced
};

// What the engine told of its own work, in its answer. Durations.
struct EngineTimes {
  std::optional<Nanos> queue_ns, prefill_ns, decode_ns;
  bool empty() const { return !queue_ns && !prefill_ns && !decode_ns; }
};

// Stamps are nanoseconds on one monotonic clock of the sampler; absent where it did not happen,
// never 0 for that. |stamp| <= kStampMax, so that differences cannot overflow.
struct Record {
  static constexpr Nanos kStampMax = 4'000'000'000'000'000'000;

  std::string id;      // of the gateway, else the sampler's own
  std::string bucket;  // a name of the mix; empty: only counted in `all`
  Phase phase = Phase::kSteady;
  std::optional<Nanos> t_sched, t_disp;               // intended start; taken up by a worker
  std::optional<Nanos> t_conn0, t_dns, t_tcp, t_tls;  // dialling; absent on a reused connection
  std::optional<bool> reused;
  std::optional<Nanos> t_tx0, t_tx1;              // first, last byte of the request written
  std::optional<Nanos> t_hdr, t_rx0, t_frame;     // status line, first body byte, first event
  std::vector<TokenEvent> tokens;                 // in order, `at` never decreases
  std::optional<Nanos> t_usage, t_done, t_close;  // usage, terminal event, end of all
  RequestOutcome outcome = RequestOutcome::kOk;
  std::string error_class;  // empty: none
  std::optional<int> status;
  std::string finish_reason;
  std::optional<int64_t> n_in, n_out;
  std::optional<int64_t> n_first;  // tokens in the first event, where told; else taken as 1
  std::string n_source;            // "usage", "chunks", ...; empty: none
  std::optional<int64_t> cached_tokens;
  std::vector<std::string> marks;  // "reasoning_hidden", "coalesced", ...
  int attempts = 1;
  EngineTimes engine;
  std::string gateway_call;  // the gateway's own record as a JSON object; empty: none

  // Whether `mark` is among the marks.
  bool has_mark(std::string_view mark) const;
};

// Longest line that is read: a million token events and a gateway's record fit.
inline constexpr size_t kRecordBytesMax = size_t{64} << 20;

// Appends the record as one line of JSON, with its line feed.
void append_record(std::string& out, const Record& record);

// Reads one line. Fields that are missing or of another kind are absent; unknown ones are skipped.
// A line without an outcome is `ok` when it has a token or a terminal event and no status from 400,
// else `empty`. kConfig for what is no JSON object, an unknown outcome, phase or channel, a stamp
// beyond kStampMax, arrays of a token's properties longer than t_tok, or tokens that go back in
// time.
Result<Record> parse_record(std::string_view line);

}  // namespace hw::runs
