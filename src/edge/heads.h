// Heads that the gateway composes: the request to an upstream and the answer to a client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "http/head.h"
#include "http/server.h"
#include "route/catalogue.h"

namespace hw::edge {

// The flags of a client's anthropic-beta fields, sorted by whether the channel takes them.
struct BetaFlags {
  std::string taken;             // as one value, separated by commas; empty: none
  std::vector<std::string> cut;  // in their order
};
BetaFlags beta_flags(const http::Fields& fields, const route::ChannelOptions& channel);

// What a request to an upstream is made of, beside its body.
struct UpstreamRequest {
  const http::RequestHead& head;  // the client's
  const route::Channel& channel;
  route::Endpoint endpoint;
  std::string_view query;            // with its '?'
  bool stream = false;               // then the answer is wanted in plain
  bool body_decoded = false;         // content-encoding was undone
  bool translated = false;           // the body is ours, in another dialect than the client's
  const BetaFlags* betas = nullptr;  // those that go on instead of the client's; null: as they came
  uint64_t body_bytes = 0;
  std::string_view request_id;
  int attempt = 1;
  TraceParent trace;  // sent on; `parent` is this attempt's span
};

// Appends the head: the client's fields but for hop-by-hop ones, its credentials, flags that the
// channel does not take, and what is ours to say (host, length, ids, traceparent).
void append_upstream_head(std::string& to, const UpstreamRequest& request);

// What every answer of the model API carries.
struct AnswerLabels {
  std::string_view request_id;
  std::string_view trace_id;  // 32 hex digits
  std::string_view channel;   // empty: none was reached
};

// How the end of the answer's body is marked.
struct AnswerFraming {
  enum class Kind : uint8_t { kLength, kChunked, kUntilClose };
  Kind kind = Kind::kLength;
  uint64_t length = 0;
};

// Whether the client sees a stream of events; then nothing on the way may hold it back.
enum class AnswerKind : uint8_t { kWhole, kEventStream };
// Whether the body still has the coding that the upstream's head names.
enum class AnswerCoding : uint8_t { kAsSent, kDecoded };

// What a Server-Timing field says, in nanoseconds.
struct ServerTiming {
  Nanos total = -1;     // -1: no field
  Nanos upstream = -1;  // -1: not said
  Nanos gateway = 0;
};

// An answer of an upstream, as its head goes to the client.
struct RelayedHead {
  const http::ResponseHead& upstream;
  int status = 200;
  AnswerKind kind = AnswerKind::kWhole;
  AnswerCoding coding = AnswerCoding::kAsSent;
  AnswerFraming framing;
  AnswerLabels labels;
  bool keep_alive = true;
  ServerTiming server_timing;
};

// Appends an upstream's head as the client gets it: its fields but for hop-by-hop ones, its request
// id (kept in the call record) and what is ours to say.
void append_relayed_head(std::string& to, const RelayedHead& answer);

// A head of our own.
struct OwnHead {
  int status = 200;
  std::string_view content_type = "application/json";
  std::string_view content_security_policy;  // of a page; empty: none
  AnswerKind kind = AnswerKind::kWhole;
  AnswerFraming framing;
  AnswerLabels labels;
  bool keep_alive = true;
  int retry_after_s = 0;
  int should_retry = -1;   // x-should-retry: 1, 0, or -1 for none
  std::string_view allow;  // for 405
  ServerTiming server_timing;
};
void append_own_head(std::string& to, const OwnHead& answer);

// Seconds of a retry-after or retry-after-ms field, rounded up to whole nanoseconds; -1 where there
// is none or it is a date (RFC 9110 §10.2.3) that has passed. `wall` is now, ns since 1970.
Nanos retry_after_ns(const http::Fields& fields, Nanos wall);

}  // namespace hw::edge
