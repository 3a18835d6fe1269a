// ExchangeState: what the parts of one exchange share: its record, its client, its clocks. Owned by
// Exchange; attempts and relays hold references.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "access/keys.h"
#include "base/random.h"
#include "edge/client_answer.h"
#include "edge/heads.h"
#include "edge/routes.h"
#include "edge/upstreams.h"
#include "gateway/clocks.h"
#include "gateway/loop_metrics.h"
#include "gateway/snapshot.h"
#include "store/call_sink.h"
#include "timeline/call.h"
#include "timeline/stopwatch.h"
#include "translate/translation.h"
#include "wire/request_facts.h"

namespace hw::gateway {

// Signals of an exchange's event, beside those of its client's connection.
inline constexpr net::Signals kUpstreamReadable = http::kFirstOwnSignal << 0;
inline constexpr net::Signals kUpstreamWritable = http::kFirstOwnSignal << 1;
inline constexpr net::Signals kDialled = http::kFirstOwnSignal << 2;
inline constexpr net::Signals kPlaceGranted = http::kFirstOwnSignal << 3;

// What all loops share: the few things that are not one loop's own.
struct Common {
  std::atomic<bool> draining{false};
  std::atomic<uint64_t> body_bytes{0};  // held by all exchanges; small bodies are not counted
};

// What a loop offers its exchanges. Buffers are used between two waits only.
struct LoopContext {
  net::Loop& loop;
  Common& common;
  edge::Upstreams upstreams;
  LoopMetrics metrics;
  store::CallSink& sink;
  Random random;
  std::string out;               // being composed for a client or an upstream
  std::string scratch;           // of EventGate
  std::unique_ptr<char[]> read;  // what was read from an upstream
  static constexpr size_t kReadBytes = 64 * 1024;

  LoopContext(net::Loop& l, Common& c, net::BlockingPool& blocking, store::CallSink& s,
              Registry& registry)
      : loop(l),
        common(c),
        upstreams(l, blocking, queue_depth(registry)),
        metrics(registry),
        sink(s),
        random(random_seed()),
        read(new char[kReadBytes + http::Buffer::kPadding]) {}
};

// What came of a wait.
struct Wake {
  net::Signals signals = 0;  // those asked for
  bool gone = false;         // the client left
  bool clock = false;        // `which` has passed
  ClockName which = ClockName::kTotal;
};

struct ExchangeState {
  LoopContext& context;
  http::ServerConnection& client;
  std::shared_ptr<const Snapshot> settings;
  edge::Route route;
  timeline::Call call;
  timeline::TokenTimes token_times{call.gaps, call.token_times};
  Clocks clocks;
  timeline::Stopwatch own;
  edge::ClientAnswer answer;
  std::unique_ptr<wire::RequestFacts> facts;  // until drop_request()
  std::unique_ptr<translate::Translation>
      translation;             // where a channel of another dialect is tried
  int64_t input_estimate = 0;  // tokens, by the bytes of the prompt; for who is told no usage
  std::string_view body;       // of the request, decoded
  std::string decoded_body;    // where it was encoded
  std::array<char, TraceId::kHexSize> trace_hex;
  std::string_view answer_channel;  // of the labels
  ModelSeries* series;              // of the model asked for, or of "other"
  TraceParent trace;
  uint64_t span_seed = 0;
  bool body_decoded = false;
  AbortPhase phase = AbortPhase::kUpload;

  ExchangeState(LoopContext& c, http::ServerConnection& cl, std::shared_ptr<const Snapshot> s)
      : context(c),
        client(cl),
        settings(std::move(s)),
        answer(cl, c.out),
        facts(std::make_unique<wire::RequestFacts>()),
        series(&c.metrics.other_model()) {}

  // Fills the record with what the head says, and starts the clock of the whole.
  void begin(const http::RequestHead& head, std::string_view endpoint, Dialect dialect);
  // Who asks, by the head alone; into the record, too. Errors: kDraining, kUnauthorized.
  Result<const access::Key*> admit(const http::RequestHead& head);
  // Outcome and error of an exchange whose client left, took no byte for write_stall_ms, or was
  // still taking its answer when total_ms or drain_s was over.
  void set_gone();
  // Adds what the translation had to drop so far to what the call says was dropped.
  void note_lossy();
  // Completes the record: nothing more is sent, and the outcome is known. The caller hands it on.
  void finish();

  // A point on the monotonic clock as an offset of the record.
  Nanos offset(Nanos now) const { return now - client.arrived(); }
  edge::AnswerLabels labels() const {
    return {call.id.view(), {trace_hex.data(), trace_hex.size()}, answer_channel};
  }
  // Until now: in all, since the request was sent, and our own share.
  edge::ServerTiming server_timing() const;
  bool wants_stream() const { return call.stream; }
  // Notes how late the loop was for what is handled at `now`.
  Nanos note_lateness(Nanos now);

  // Something has been relayed: the request will not be sent again, so its memory is freed. Views
  // of its head and body end here.
  void drop_request();

  // Writes what is composed, or a whole answer; the time in which the client took no byte is not
  // ours. See ClientAnswer::flush() and whole().
  net::Task<bool> flush();
  net::Task<bool> write_whole(std::string_view head, std::string_view whole_body, int status);

  // The head of an error of ours, for a body of `body_bytes`.
  edge::OwnHead error_head(const Error& error, uint64_t body_bytes) const;

  // Suspends until one of `wanted` is raised, the client left or a clock passed. Sends heartbeats
  // and probes by itself meanwhile.
  net::Task<Wake> wait(net::Signals wanted);
};

}  // namespace hw::gateway
