// Random calls for tests and micro benchmarks, from a seed.
#pragma once

#include <string>

#include "base/random.h"
#include "timeline/call.h"

namespace hw::journal {

inline constexpr Nanos kSampleWall = 1'767'225'600 * kSecond;  // 2026-01-01T00:00:00Z

// Text of up to `size_max` bytes, any bytes.
inline std::string sample_text(Random& random, uint64_t size_max) {
  std::string text(random.below(size_max + 1), ' ');
  for (char& byte : text) byte = static_cast<char>(random.next());
  return text;
}

inline Nanos sample_nanos(Random& random) {
  return static_cast<Nanos>(random.next() >> (2 + random.below(60)));
}

inline timeline::ConnectionInfo sample_connection(Random& random) {
  timeline::ConnectionInfo connection;
  connection.reused = random.below(2) == 0;
  if (random.below(2) == 0) connection.rtt_us = sample_nanos(random);
  if (random.below(2) == 0) connection.retransmits = sample_nanos(random);
  if (random.below(2) == 0) connection.unacked = sample_nanos(random);
  return connection;
}

inline timeline::CallError sample_error(Random& random) {
  timeline::CallError error;
  if (random.below(2) != 0) return error;
  error.code = "timeout_connect";
  error.message = sample_text(random, 60);
  return error;
}

inline timeline::Attempt sample_attempt(Random& random) {
  timeline::Attempt attempt;
  for (int i = 0; i < timeline::kAttemptStampCount; ++i) {
    if (random.below(3) != 0) {
      attempt.stamps.set_once(static_cast<timeline::AttemptStamp>(i), sample_nanos(random));
    }
  }
  attempt.channel = sample_text(random, 12);
  attempt.instance = "127.0.0.1:8000";
  attempt.outcome = static_cast<Outcome>(random.below(kOutcomeCount));
  attempt.status = static_cast<int>(random.below(600));
  attempt.error = sample_error(random);
  attempt.upstream_request_id = sample_text(random, 20);
  attempt.connection = sample_connection(random);
  attempt.bytes_sent = random.next();
  attempt.bytes_received = random.next();
  return attempt;
}

inline timeline::GapSummary sample_gaps(Random& random) {
  timeline::GapSummary totals;
  std::string coded;
  timeline::TokenTimes times(totals, coded);
  Nanos at = 0;
  for (uint64_t left = random.below(40); left > 0; --left) {
    at += static_cast<Nanos>(random.below(kSecond));
    times.add(at, static_cast<Nanos>(random.below(kSecond)), 0);
  }
  return times.summary();
}

// Every field takes every kind of value: absent, small, huge, any bytes.
inline timeline::Call sample_call(Random& random) {
  timeline::Call call;
  call.arrived_wall = kSampleWall + static_cast<Nanos>(random.below(3600)) * kSecond;
  call.id = RequestId::make(call.arrived_wall, random);
  call.trace = random.below(2) == 0 ? TraceId::of(call.id) : TraceId::make(random);
  if (random.below(2) == 0) call.client_request_id = sample_text(random, 30);
  call.key = sample_text(random, 10);
  call.credential_from = random.below(2) == 0 ? "x-api-key" : sample_text(random, 5);
  call.model = "smollm2-135m";
  call.upstream_model = random.below(2) == 0 ? call.model : sample_text(random, 30);
  call.endpoint = random.below(2) == 0 ? "/v1/messages" : sample_text(random, 20);
  call.dialect = static_cast<Dialect>(random.below(kDialectCount));
  call.stream = random.below(2) == 0;
  call.outcome = static_cast<Outcome>(random.below(kOutcomeCount));
  call.status = static_cast<int>(random.below(600));
  call.error = sample_error(random);
  call.finish_reason = random.below(2) == 0 ? "stop" : sample_text(random, 9);
  for (uint64_t left = random.below(3); left > 0; --left) {
    call.lossy.push_back(sample_text(random, 12));
  }
  for (int i = 0; i < timeline::kExchangeStampCount; ++i) {
    if (random.below(4) != 0) {
      call.stamps.set_once(static_cast<timeline::ExchangeStamp>(i), sample_nanos(random));
    }
  }
  for (uint64_t left = random.below(4); left > 0; --left) {
    call.attempts.push_back(sample_attempt(random));
  }
  for (uint64_t left = random.below(3); left > 0; --left) {
    timeline::Skipped skipped;
    skipped.channel = sample_text(random, 8);
    skipped.reason = sample_text(random, 40);
    call.skipped.push_back(skipped);
  }
  if (random.below(2) == 0) {
    call.engine.source = random.below(2) == 0 ? "vllm" : sample_text(random, 8);
    call.engine.queue_ns = sample_nanos(random);
    call.engine.prefill_ns = sample_nanos(random);
    call.engine.cached_tokens = 0;
  }
  call.tokens.input = sample_nanos(random);
  call.tokens.output = sample_nanos(random);
  call.tokens.reasoning = static_cast<int64_t>(random.below(5));
  call.tokens.source = static_cast<timeline::TokenSource>(random.below(3));
  call.gaps = sample_gaps(random);
  call.token_times = sample_text(random, 50);
  call.client_address = "127.0.0.1";
  call.client = sample_connection(random);
  call.client_blocked_ns = sample_nanos(random);
  call.overhead_ns = sample_nanos(random);
  call.loop_late_max_ns = sample_nanos(random);
  call.request_bytes = random.next();
  call.response_bytes = random.next();
  call.heartbeats = static_cast<uint32_t>(random.next());
  call.stamps_clamped = static_cast<uint32_t>(random.next());
  return call;
}

// A finished call as the gateway makes it for a streamed chat with `tokens` tokens 30 ms apart, or
// for an answer that is not streamed where `tokens` is 0.
inline timeline::Call typical_call(Random& random, Nanos arrived_wall, int tokens) {
  using timeline::AttemptStamp;
  using timeline::ExchangeStamp;
  timeline::Call call;
  call.arrived_wall = arrived_wall;
  call.id = RequestId::make(arrived_wall, random);
  call.trace = TraceId::of(call.id);
  call.key = "dev";
  call.credential_from = "authorization";
  call.model = call.upstream_model = "smollm2-135m";
  call.endpoint = "/v1/chat/completions";
  call.stream = tokens > 0;
  call.outcome = Outcome::kOk;
  call.status = 200;
  call.finish_reason = "stop";
  Nanos at = 0;
  const auto later = [&] { return at += 1'000 + static_cast<Nanos>(random.below(300'000)); };
  call.stamps.set_once(ExchangeStamp::kArrived, 0);
  for (int i = 1; i < 5; ++i) call.stamps.set_once(static_cast<ExchangeStamp>(i), later());
  timeline::Attempt attempt;
  attempt.channel = "local";
  attempt.instance = "127.0.0.1:8000";
  attempt.outcome = Outcome::kOk;
  attempt.status = 200;
  attempt.connection = {30, 0, 0, true};
  attempt.bytes_sent = 1'300;
  attempt.bytes_received = 900 + static_cast<uint64_t>(tokens) * 200;
  for (const auto stamp : {AttemptStamp::kBegun, AttemptStamp::kLeased, AttemptStamp::kSent,
                           AttemptStamp::kHead, AttemptStamp::kFirstByte}) {
    attempt.stamps.set_once(stamp, later());
  }
  timeline::GapSummary totals;
  std::string coded;
  timeline::TokenTimes times(totals, coded);
  for (int i = 0; i < tokens; ++i) {
    at += 30 * kMillisecond + static_cast<Nanos>(random.below(kMillisecond));
    times.add(at, 0, 0);
    attempt.stamps.set_once(AttemptStamp::kFirstToken, at);
    attempt.stamps.set_once(AttemptStamp::kFirstVisible, at);
    attempt.stamps.move_to(AttemptStamp::kLastToken, at);
  }
  if (tokens > 0) attempt.stamps.set_once(AttemptStamp::kTerminal, later());
  attempt.stamps.set_once(AttemptStamp::kClosed, later());
  call.attempts.push_back(attempt);
  call.stamps.set_once(ExchangeStamp::kFinished, later());
  call.tokens = {120, 0, 0, tokens > 0 ? tokens : 64, 0, timeline::TokenSource::kUsage};
  call.gaps = times.summary();
  call.token_times = times.encoded();
  call.client_address = "127.0.0.1";
  call.client = {20, 0, 0, false};
  call.overhead_ns = 40'000;
  call.request_bytes = 1'400;
  call.response_bytes = 1'000;
  return call;
}

// The same call as it is when its begin is appended: no end, the attempt just begun.
inline timeline::Call begun_call(const timeline::Call& finished) {
  using timeline::AttemptStamp;
  timeline::Call call;
  call.id = finished.id;
  call.trace = finished.trace;
  call.arrived_wall = finished.arrived_wall;
  call.client_request_id = finished.client_request_id;
  call.key = finished.key;
  call.credential_from = finished.credential_from;
  call.model = finished.model;
  call.endpoint = finished.endpoint;
  call.dialect = finished.dialect;
  call.stream = finished.stream;
  call.stamps = finished.stamps;
  call.stamps.move_to(timeline::ExchangeStamp::kFinished, timeline::ExchangeStamps::kAbsent);
  if (!finished.attempts.empty()) {
    timeline::Attempt attempt;
    attempt.channel = finished.attempts.front().channel;
    const Nanos begun = finished.attempts.front().stamps.get(AttemptStamp::kBegun);
    if (begun >= 0) attempt.stamps.set_once(AttemptStamp::kBegun, begun);
    call.attempts.push_back(attempt);
  }
  return call;
}

}  // namespace hw::journal
