// Call: the finished record of an exchange, as logged, shown and billed; immutable once handed
// over. Plain data; stages.h derives the stages, the store writes it, the console and the command
// line show it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dialect.h"
#include "base/ids.h"
#include "timeline/gaps.h"
#include "timeline/stamps.h"

namespace hw::timeline {

// A failure as the call keeps it: the stable code of base/error.h and the message the caller saw.
struct CallError {
  std::string code;  // empty: no error
  std::string message;
  friend bool operator==(const CallError&, const CallError&) = default;
};

// What TCP_INFO said of a connection when the exchange or attempt ended; -1 where unknown.
struct ConnectionInfo {
  int64_t rtt_us = -1;
  int64_t retransmits = -1;
  int64_t unacked = -1;  // segments sent and not acknowledged yet
  bool reused = false;   // upstream only: the connection had served before
  friend bool operator==(const ConnectionInfo&, const ConnectionInfo&) = default;
};

// One try of the exchange on one channel.
struct Attempt {
  AttemptStamps stamps;
  std::string channel;   // configured name
  std::string instance;  // host:port that it reached
  Outcome outcome = Outcome::kGatewayError;
  int status = 0;  // of the upstream's answer; 0: there was none
  CallError error;
  std::string upstream_request_id;  // empty: the upstream gave none
  ConnectionInfo connection;
  uint64_t bytes_sent = 0, bytes_received = 0;  // on the upstream connection, heads included
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// A channel that could have served and was passed over.
struct Skipped {
  std::string channel;
  std::string reason;  // "cooling down for 12 s after 429"
  friend bool operator==(const Skipped&, const Skipped&) = default;
};

// The engine's own durations in nanoseconds, where the upstream told them; -1 where it did not.
// Durations cross hosts, clocks never do.
struct EngineTimes {
  std::string source;  // "headway", "vllm", "sglang", "llama.cpp", "tgi"; empty: none told
  Nanos queue_ns = -1;
  Nanos prefill_ns = -1;
  Nanos kv_transfer_ns = -1;
  Nanos decode_ns = -1;
  Nanos first_token_ns = -1;
  int64_t cached_tokens = -1;
  friend bool operator==(const EngineTimes&, const EngineTimes&) = default;
};

// Where the numbers of tokens come from.
enum class TokenSource : uint8_t { kNone, kEstimated, kUsage };
// "none", "estimated", "usage".
std::string_view token_source_name(TokenSource source);

// Token counts of the call; `input` is all input, the cached ones are parts of it.
struct Tokens {
  int64_t input = 0;
  int64_t cached_input = 0;
  int64_t cache_creation_input = 0;
  int64_t output = 0;
  int64_t reasoning = 0;
  TokenSource source = TokenSource::kNone;
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

// The whole record.
struct Call {
  RequestId id;
  TraceId trace;
  Nanos arrived_wall = 0;         // wall clock of `arrived`, ns since 1970
  std::string client_request_id;  // the caller's x-request-id; empty: none
  std::string key;                // name of the key; empty: none was accepted
  std::string credential_from;    // "authorization", "x-api-key", "x-litellm-api-key"; empty: none
  std::string model;              // as asked for; empty where the body was never read
  std::string upstream_model;     // as sent
  std::string endpoint;           // path of the route, "/v1/chat/completions"
  Dialect dialect = Dialect::kOpenaiChat;
  bool stream = false;
  Outcome outcome = Outcome::kGatewayError;
  int status = 0;  // what the client was sent; 499: it left before a head was sent
  CallError error;
  std::string finish_reason;       // the dialect's own word; empty: none seen
  std::vector<std::string> lossy;  // fields that a translation had to drop

  ExchangeStamps stamps;
  std::vector<Attempt> attempts;
  std::vector<Skipped> skipped;
  EngineTimes engine;
  Tokens tokens;
  GapSummary gaps;
  std::string token_times;  // TokenTimes::encoded()

  std::string client_address;
  ConnectionInfo client;
  Nanos client_blocked_ns = 0;  // our writes to the client were blocked
  Nanos overhead_ns = 0;        // time in which the exchange waited for nobody but us
  Nanos loop_late_max_ns = 0;   // how late this loop was at worst while the exchange ran
  uint64_t request_bytes = 0, response_bytes = 0;  // client side, heads included
  uint32_t heartbeats = 0;
  uint32_t stamps_clamped = 0;  // stamps earlier than their predecessor: our bug, counted

  // Length of the exchange; the sum of its stages.
  Nanos total_ns() const { return stamps.get(ExchangeStamp::kFinished); }
  // The attempt whose answer the client got: the last one, or none.
  const Attempt* winner() const { return attempts.empty() ? nullptr : &attempts.back(); }
  friend bool operator==(const Call&, const Call&) = default;
};

// Figures that follow from a call; -1 where the call has none (not streamed, no token seen).
// Counted from body_read, the moment the caller had said everything.
Nanos ttff_ns(const Call& call);
Nanos ttft_ns(const Call& call);
Nanos ttfo_ns(const Call& call);
// (last token - first token) / (output tokens - 1); -1 where that has no value.
Nanos tpot_ns(const Call& call);

// The four time stamps of every log line, as wall clock; -1 where absent.
struct WallTimes {
  Nanos enqueue = -1, first_token = -1, last_token = -1, finish = -1;
};
WallTimes wall_times(const Call& call);
// Why first_token is absent, as the call record says it: "not_streamed", "no_token",
// "body_never_read"; empty where it is there.
std::string_view first_token_reason(const Call& call);

}  // namespace hw::timeline
