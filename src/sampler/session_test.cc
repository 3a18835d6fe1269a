#include "sampler/session.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "base/temp_folder.h"
#include "runs/run_folder.h"
#include "sampler/played_server.h"
#include "sampler/scripted_stream.h"

namespace hw::sampler {
namespace {

using runs::Phase;
using runs::Record;
using runs::RequestOutcome;
using Then = PlayedAnswer::Then;
using Wire = PlayedServer::Wire;

// What a stamp may be behind what the server wrote: the lateness of two loops on a machine that
// does other things as well.
constexpr Nanos kLateMax = kSecond;

class OnePrompt final : public PromptSource {
 public:
  Prompt next() override { return {"short", "hello", 16}; }
  std::string mix() const override { return "short=1"; }
  std::string digest() const override { return std::string(64, '0'); }
};

std::string chunk(std::string_view payload) {
  std::string out;
  http::append_chunk(out, payload);
  return out;
}
const std::string kHead =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

// Head and opening at once, `tokens` tokens `gap` apart, the end with the last one.
PlayedAnswer stream(Dialect dialect, Nanos wait, Nanos gap, int tokens) {
  const ScriptedStream say(dialect);
  PlayedAnswer out;
  out.pieces.push_back({0, kHead + chunk(say.opening())});
  for (int i = 0; i < tokens; ++i) {
    out.pieces.push_back({i == 0 ? wait : gap, chunk(say.text("word"))});
  }
  out.pieces.push_back(
      {gap, chunk(say.finish(tokens) + say.done()) + std::string(http::kLastChunk)});
  return out;
}

// Everything that a run needs, around a server.
struct Bench {
  PlayedServer server;
  Target target;
  OnePrompt prompts;
  SessionSettings settings;
  std::vector<Record> records;
  std::function<void()> on_record = [] {};

  Bench(Wire wire, Dialect dialect, PlayedServer::Script script, Reuse reuse = Reuse::kPooled)
      : server(wire, std::move(script)) {
    TargetSettings made;
    made.base_url = concat(
        wire == Wire::kTls ? "https://localhost:" : "http://127.0.0.1:", server.port(), "/v1");
    made.model = "m";
    made.key = "k";
    made.dialect = dialect;
    made.reuse = reuse;
    target = std::move(*Target::make(made, {}));
    settings.plan.requests = 1;
    settings.limits.timeout_ns = 20 * kSecond;
    if (wire == Wire::kTls) {
      std::ifstream file("src/net/testdata/ca.pem");
      settings.ca_pem.assign(std::istreambuf_iterator<char>(file), {});
    }
  }

  SessionResult run() {
    Session session(target, prompts, settings, [this](const Load&, const Record& record) {
      records.push_back(record);
      on_record();
    });
    Result<SessionResult> result = session.run();
    REQUIRE(result.has_value());
    return std::move(*result);
  }
  size_t count(RequestOutcome outcome, Phase phase = Phase::kSteady) const {
    size_t out = 0;
    for (const Record& record : records) {
      out += record.outcome == outcome && record.phase == phase ? 1 : 0;
    }
    return out;
  }
};

void check_against_server(Wire wire, Dialect dialect) {
  CAPTURE(dialect_name(dialect));
  constexpr int kTokens = 5;
  Bench bench(wire, dialect, [dialect](size_t, const std::string&) {
    return stream(dialect, 20 * kMillisecond, 5 * kMillisecond, kTokens);
  });
  bench.run();
  REQUIRE(bench.records.size() == 1);
  const Record& record = bench.records[0];
  CHECK(record.outcome == RequestOutcome::kOk);
  CHECK(record.n_out == kTokens);
  REQUIRE(record.tokens.size() == kTokens);
  const std::vector<Nanos> written = bench.server.written(0);
  const auto check_stamp = [](std::optional<Nanos> seen, Nanos sent) {
    REQUIRE(seen.has_value());
    CHECK(*seen >= sent);
    CHECK(*seen - sent < kLateMax);
  };
  check_stamp(record.t_frame, written[0]);
  for (size_t i = 0; i < kTokens; ++i) check_stamp(record.tokens[i].at, written[i + 1]);
  check_stamp(record.t_usage, written[kTokens + 1]);
  check_stamp(record.t_done, written[kTokens + 1]);
  CHECK(*record.t_tx0 <= *record.t_tx1);
  CHECK(*record.t_tcp <= *record.t_tx0);
  CHECK(record.t_tls.has_value() == (wire == Wire::kTls));
}

TEST_CASE("stamps are those of the server's own writes, in every dialect, plain and over TLS") {
  for (const Dialect dialect : kTimedDialects) {
    check_against_server(Wire::kPlain, dialect);
    check_against_server(Wire::kTls, dialect);
  }
}

TEST_CASE("a closed loop keeps its connections, and opens one for each request when told to") {
  const auto script = [](size_t, const std::string&) {
    return stream(Dialect::kOpenaiChat, 0, 0, 2);
  };
  Bench pooled(Wire::kPlain, Dialect::kOpenaiChat, script);
  pooled.settings.plan.requests = 10;
  const SessionResult kept = pooled.run();
  CHECK(pooled.server.connections() == 1);
  CHECK(kept.pace.reused == 9);
  CHECK(kept.figures.completed == 10);
  CHECK(kept.figures.output_tokens == 20);

  Bench fresh(Wire::kPlain, Dialect::kOpenaiChat, script, Reuse::kNever);
  fresh.settings.plan.requests = 10;
  fresh.run();
  CHECK(fresh.server.connections() == 10);
  for (const Record& record : fresh.records) CHECK(record.reused == false);
}

TEST_CASE("a kept connection that dies unanswered is replaced once, in the same record") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t number, const std::string&) {
    PlayedAnswer out = stream(Dialect::kOpenaiChat, 0, 0, 2);
    if (number == 1) out = {{}, Then::kClose};
    return out;
  });
  bench.settings.plan.requests = 2;
  bench.run();
  REQUIRE(bench.records.size() == 2);
  CHECK(bench.records[1].outcome == RequestOutcome::kOk);
  CHECK(bench.records[1].attempts == 2);
  CHECK(bench.records[1].reused == false);
}

TEST_CASE("a fresh connection that dies unanswered is a failure and not tried again") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat,
              [](size_t, const std::string&) { return PlayedAnswer{{}, Then::kReset}; });
  bench.run();
  CHECK(bench.server.requests() == 1);
  CHECK(bench.count(RequestOutcome::kConnectError) == 1);
  CHECK(bench.records[0].attempts == 1);
}

TEST_CASE("nothing listens: the connection is what failed") {
  uint16_t port = 0;
  {
    PlayedServer gone(Wire::kPlain, [](size_t, const std::string&) { return PlayedAnswer(); });
    port = gone.port();
  }
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat,
              [](size_t, const std::string&) { return PlayedAnswer(); });
  TargetSettings made = bench.target.settings();
  made.base_url = concat("http://127.0.0.1:", port, "/v1");
  bench.target = std::move(*Target::make(made, {}));
  const SessionResult result = bench.run();
  CHECK(bench.count(RequestOutcome::kConnectError) == 1);
  CHECK(bench.records[0].error_class == "tcp");
  CHECK_FALSE(bench.records[0].t_tx0.has_value());
  CHECK(result.errors.at("connect_error tcp") == 1);
}

TEST_CASE("a certificate that nobody vouches for is a failure of TLS") {
  Bench bench(Wire::kTls, Dialect::kOpenaiChat,
              [](size_t, const std::string&) { return PlayedAnswer(); });
  bench.settings.ca_pem.clear();
  bench.run();
  CHECK(bench.records[0].outcome == RequestOutcome::kConnectError);
  CHECK(bench.records[0].error_class == "tls");
}

TEST_CASE("a server that goes silent ends in a time-out, with what came before it") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string&) {
    PlayedAnswer out = stream(Dialect::kOpenaiChat, 0, 0, 3);
    out.pieces.pop_back();
    out.then = Then::kSilence;
    return out;
  });
  bench.settings.limits.timeout_ns = 100 * kMillisecond;
  const SessionResult result = bench.run();
  CHECK(bench.records[0].outcome == RequestOutcome::kTimeout);
  CHECK(bench.records[0].error_class == "total");
  CHECK(bench.records[0].tokens.size() == 3);
  CHECK(*bench.records[0].t_close - *bench.records[0].t_disp >= 100 * kMillisecond);
  CHECK(result.summary.buckets.front().of(runs::Metric::kE2e).n_censored == 1);
}

TEST_CASE("an open connection behind the last event does not hold the run up") {
  Bench bench(Wire::kPlain, Dialect::kAnthropicMessages, [](size_t, const std::string&) {
    PlayedAnswer out = stream(Dialect::kAnthropicMessages, 0, 0, 2);
    std::string& last = out.pieces.back().bytes;
    last.resize(last.size() - http::kLastChunk.size());
    out.then = Then::kSilence;
    return out;
  });
  bench.settings.limits.linger_ns = 50 * kMillisecond;
  bench.run();
  CHECK(bench.records[0].outcome == RequestOutcome::kOk);
  CHECK(bench.records[0].has_mark("unclean_end"));
}

SchedulePlan constant(double rate) {
  SchedulePlan out;
  out.kind = workload::ArrivalKind::kConstant;
  out.rate = rate;
  return out;
}

TEST_CASE("an open loop's schedule is not moved by a slow server") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string&) {
    return stream(Dialect::kOpenaiChat, 40 * kMillisecond, 0, 1);
  });
  bench.settings.plan.requests = 20;
  bench.settings.plan.concurrency = 0;
  bench.settings.plan.arrivals = constant(250);
  const SessionResult result = bench.run();
  CHECK(bench.count(RequestOutcome::kOk) == 20);
  std::vector<Nanos> due;
  for (const Record& record : bench.records) {
    if (record.phase == Phase::kSteady) due.push_back(*record.t_sched);
  }
  std::sort(due.begin(), due.end());
  for (size_t i = 1; i < due.size(); ++i) {
    CHECK(due[i] - due[i - 1] >= 4 * kMillisecond - 1);
    CHECK(due[i] - due[i - 1] <= 4 * kMillisecond + 1);
  }
  CHECK(result.pace.rate_due.value_or(0) == doctest::Approx(250));
}

TEST_CASE("at the cap a request waits and is charged for it") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string&) {
    return stream(Dialect::kOpenaiChat, 20 * kMillisecond, 0, 1);
  });
  bench.settings.plan.requests = 6;
  bench.settings.plan.concurrency = 1;
  bench.settings.plan.arrivals = constant(1000);
  bench.run();
  CHECK(bench.count(RequestOutcome::kOk) == 6);
  // The sixth was due after 6 ms and could begin only after five answers of 20 ms.
  const Record& last = bench.records[5];
  CHECK(*last.t_disp - *last.t_sched >= 90 * kMillisecond);
  CHECK(*runs::metric_ns(runs::Metric::kTtftResponse, last) >=
        *runs::metric_ns(runs::Metric::kTtft, last) + 90e6);
}

TEST_CASE("at the cap a request is dropped and counted") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string&) {
    return stream(Dialect::kOpenaiChat, 50 * kMillisecond, 0, 1);
  });
  bench.settings.plan.requests = 10;
  bench.settings.plan.concurrency = 1;
  bench.settings.plan.on_cap = OnCap::kDrop;
  bench.settings.plan.arrivals = constant(1000);
  bench.run();
  CHECK(bench.count(RequestOutcome::kDropped) > 0);
  CHECK(bench.count(RequestOutcome::kDropped) + bench.count(RequestOutcome::kOk) == 10);
}

TEST_CASE("warm-up is not measured, and the load goes on until the last measured request ends") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t number, const std::string&) {
    // The last measured one is slow.
    return stream(Dialect::kOpenaiChat, (number == 6 ? 60 : 5) * kMillisecond, 0, 1);
  });
  bench.settings.plan.warmup_requests = 3;
  bench.settings.plan.requests = 4;
  bench.settings.plan.concurrency = 2;
  const SessionResult result = bench.run();
  CHECK(bench.count(RequestOutcome::kOk, Phase::kWarmup) == 3);
  CHECK(bench.count(RequestOutcome::kOk) == 4);
  CHECK(bench.count(RequestOutcome::kOk, Phase::kDrain) > 0);
  CHECK(result.summary.buckets.front().counts.judged() == 4);
}

TEST_CASE("measured requests that outlast the grace are bounded by it") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat,
              [](size_t, const std::string&) { return PlayedAnswer{{}, Then::kSilence}; });
  bench.settings.plan.requests = 2;
  bench.settings.plan.concurrency = 2;
  bench.settings.plan.grace_ns = 50 * kMillisecond;
  bench.run();
  CHECK(bench.count(RequestOutcome::kTimeout) == 2);
  CHECK(bench.records[0].error_class == "grace");
}

TEST_CASE("a run that is stopped ends at once with what there is") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t number, const std::string&) {
    PlayedAnswer out = stream(Dialect::kOpenaiChat, 0, 0, 1);
    if (number >= 3) out = {{}, Then::kSilence};
    return out;
  });
  bench.settings.plan.requests = 50;
  Session session(bench.target, bench.prompts, bench.settings,
                  [&](const Load&, const Record& record) {
                    bench.records.push_back(record);
                    if (bench.records.size() == 3) session.stop();
                  });
  Result<SessionResult> result = session.run();
  REQUIRE(result.has_value());
  CHECK(result->stopped);
  CHECK(bench.count(RequestOutcome::kOk) == 3);
  CHECK(bench.records.size() <= 4);
}

TEST_CASE("the folder has every record, its hash and a summary that parses") {
  const TempFolder folder;
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t number, const std::string&) {
    if (number == 1) return PlayedAnswer{{{0, "HTTP/1.1 429 Slow\r\ncontent-length: 0\r\n\r\n"}}};
    return stream(Dialect::kOpenaiChat, 0, 0, 2);
  });
  bench.settings.plan.requests = 5;
  bench.settings.folder = folder.path();
  bench.settings.manifest.label = "label";
  const SessionResult result = bench.run();
  size_t seen = 0;
  const auto facts = runs::read_run(folder.path(), [&](const Record&) { ++seen; });
  REQUIRE(facts.has_value());
  CHECK(seen == 5);
  CHECK(result.records == 5);
  CHECK_FALSE(facts->is_edited());
  REQUIRE(facts->manifest.has_value());
  CHECK(facts->manifest->label == "label");
  CHECK(facts->manifest->fingerprint.at("dialect") == "openai-chat");
  CHECK(result.figures.completed == 4);
  CHECK(result.figures.failed == 1);
  CHECK(result.errors.at("rate_limited http_429") == 1);
}

TEST_CASE("a gateway's own record of each call is joined, on the one line of its request") {
  const TempFolder folder;
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string& request) {
    if (request.starts_with("GET /api/calls/req_1 ")) {
      const std::string_view body = "{\n \"id\": \"req_1\",\n \"ttft_ns\": 5\n}\n";
      return PlayedAnswer{{{0, concat("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n",
                                      "content-length: ", body.size(), "\r\n\r\n", body)}}};
    }
    PlayedAnswer out = stream(Dialect::kOpenaiChat, 0, 0, 2);
    std::string& first = out.pieces.front().bytes;
    first.insert(first.find("content-type"), "x-request-id: req_1\r\nx-headway-trace-id: 5\r\n");
    return out;
  });
  bench.settings.plan.requests = 2;
  bench.settings.folder = folder.path();
  const SessionResult result = bench.run();
  CHECK(result.gateway_calls == 2);
  size_t joined = 0;
  const auto facts = runs::read_run(folder.path(), [&](const Record& record) {
    CHECK(record.id == "req_1");
    joined += record.gateway_call.find("\"ttft_ns\": 5") != std::string::npos ? 1 : 0;
  });
  CHECK(facts.has_value());
  CHECK(joined == 2);
}

TEST_CASE("probes of the link run beside a load and are not counted in it") {
  const TempFolder folder;
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat, [](size_t, const std::string&) {
    return stream(Dialect::kOpenaiChat, 20 * kMillisecond, 0, 1);
  });
  bench.settings.plan.requests = 5;
  bench.settings.folder = folder.path();
  bench.settings.probes.rtt_every_ns = 10 * kMillisecond;
  bench.settings.probes.canary_every_ns = 20 * kMillisecond;
  const SessionResult result = bench.run();
  CHECK(bench.records.size() == 5);
  CHECK(result.figures.completed == 5);
  const Histogram round_trips = durations_of(result.probes, runs::ProbeKind::kRtt);
  CHECK(round_trips.count() > 0);
  CHECK(round_trips.max() < kLateMax);
  const Histogram canaries = durations_of(result.probes, runs::ProbeKind::kCanary);
  CHECK(canaries.count() > 0);
  CHECK(canaries.min() >= 20 * kMillisecond);
  size_t kept = 0;
  CHECK(runs::read_probes(folder.path(), [&](const runs::Probe&) { ++kept; }).has_value());
  CHECK(kept == result.probes.size());
}

TEST_CASE("a disk that is full leaves a report that says so") {
  Bench bench(Wire::kPlain, Dialect::kOpenaiChat,
              [](size_t, const std::string&) { return stream(Dialect::kOpenaiChat, 0, 0, 2); });
  const TempFolder folder;
  bench.settings.folder = folder.path();
  bench.settings.plan.requests = 3;
  // /dev/full takes nothing.
  REQUIRE(::symlink("/dev/full", folder.file("requests.jsonl").c_str()) == 0);
  const SessionResult result = bench.run();
  CHECK(result.disk.has_value());
  CHECK(result.figures.completed == 3);
}

}  // namespace
}  // namespace hw::sampler
