// Calls for the golden tests of what is shown: one for each way in which an exchange can go.
#pragma once

#include <string>
#include <utility>

#include "timeline/call.h"

namespace hw::terminal {

// What all samples have in common: ids, times of arrival, client.
inline timeline::Call sample_call(Outcome outcome, int status) {
  timeline::Call call;
  RequestId::parse("req_01KE1QZX9G0123456789ABCDEF", call.id);
  call.trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736};
  call.arrived_wall = 1'767'225'600 * kSecond;
  call.outcome = outcome;
  call.status = status;
  call.endpoint = "/v1/chat/completions";
  call.client_address = "127.0.0.1";
  call.client.rtt_us = 20;
  call.client.retransmits = 0;
  call.stamps.set_once(timeline::ExchangeStamp::kArrived, 0);
  return call;
}

// Sets stamps of the exchange.
inline void stamp(timeline::Call& call,
                  std::initializer_list<std::pair<timeline::ExchangeStamp, Nanos>> stamps) {
  for (const auto& [which, at] : stamps) call.stamps.set_once(which, at);
}
// Sets stamps of an attempt.
inline void stamp(timeline::Attempt& attempt,
                  std::initializer_list<std::pair<timeline::AttemptStamp, Nanos>> stamps) {
  for (const auto& [which, at] : stamps) attempt.stamps.set_once(which, at);
}

// Arrived, read, authorized and admitted within 62 µs.
inline void stamp_accepted(timeline::Call& call) {
  using enum timeline::ExchangeStamp;
  call.key = "dev";
  call.credential_from = "authorization";
  call.model = "gpt-4o";
  call.upstream_model = "smollm2-135m";
  stamp(call,
        {{kHeadRead, 30'000}, {kBodyRead, 52'000}, {kAuthorized, 60'000}, {kAdmitted, 62'000}});
}

// An attempt without stamps.
inline timeline::Attempt attempt_on(std::string channel, Outcome outcome, int status) {
  timeline::Attempt attempt;
  attempt.channel = std::move(channel);
  attempt.instance = "127.0.0.1:8000";
  attempt.outcome = outcome;
  attempt.status = status;
  attempt.connection.rtt_us = 30;
  attempt.connection.retransmits = 0;
  return attempt;
}

// A streamed chat, answered by our own engine; prefill holds the wait.
inline timeline::Call streamed_call() {
  using enum timeline::AttemptStamp;
  timeline::Call call = sample_call(Outcome::kOk, 200);
  stamp_accepted(call);
  call.stream = true;
  call.finish_reason = "stop";
  timeline::Attempt attempt = attempt_on("local", Outcome::kOk, 200);
  attempt.connection.reused = true;
  stamp(attempt, {{kBegun, 63'000},
                  {kLeased, 65'000},
                  {kSent, 95'000},
                  {kHead, 120'100'000},
                  {kFirstByte, 120'218'000},
                  {kFirstFrame, 120'218'000},
                  {kFirstToken, 121'218'000},
                  {kFirstVisible, 121'218'000},
                  {kLastToken, 933'563'000},
                  {kTerminal, 933'600'000},
                  {kClosed, 933'663'000}});
  call.attempts.push_back(attempt);
  stamp(call, {{timeline::ExchangeStamp::kFinished, 933'713'000}});
  call.engine = {"headway", 1'200'000, 98'000'000, -1, 812'000'000, 99'200'000, 0};
  call.tokens = {12, 4, 0, 32, 0, timeline::TokenSource::kUsage};
  timeline::GapSummary totals;
  std::string coded;
  timeline::TokenTimes times(totals, coded);
  Nanos at = 121'218'000;
  for (int i = 0; i < 32; ++i) {
    times.add(at, i == 9 ? 60'000'000 : 0, i == 20 ? 30'000'000 : 0);
    at += i == 8 ? 70'000'000 : i == 19 ? 40'000'000 : 24'000'000;
  }
  call.gaps = times.summary();
  call.overhead_ns = 143'000;
  call.loop_late_max_ns = 12'000;
  return call;
}

// The first channel was busy, the exchange waited for it to cool down, another one served.
inline timeline::Call retried_call() {
  using enum timeline::AttemptStamp;
  timeline::Call call = streamed_call();
  timeline::Attempt failed = attempt_on("b", Outcome::kUpstreamError, 429);
  failed.instance = "api.example.com:443";
  failed.error = {"channel_error", "Rate limit reached for gpt-4o in organization org-x"};
  failed.upstream_request_id = "req_upstream_1";
  stamp(failed, {{kBegun, 63'000},
                 {kLeased, 64'000},
                 {kResolved, 1'064'000},
                 {kConnected, 21'064'000},
                 {kSecured, 62'064'000},
                 {kSent, 62'100'000},
                 {kHead, 95'000'000},
                 {kClosed, 95'100'000},
                 {kResumed, 345'100'000}});
  timeline::Attempt won = call.attempts[0];
  won.stamps = {};
  for (int i = 0; i < timeline::kAttemptStampCount; ++i) {
    const auto which = static_cast<timeline::AttemptStamp>(i);
    if (!call.attempts[0].stamps.has(which)) continue;
    won.stamps.set_once(which, call.attempts[0].stamps.get(which) + 345'100'000);
  }
  call.attempts = {failed, won};
  call.stamps.move_to(timeline::ExchangeStamp::kFinished, 1'278'813'000);
  call.skipped = {{"c", "cooling down for 12 s after 429"}};
  return call;
}

// No key that we know: refused on the head alone.
inline timeline::Call rejected_call() {
  using enum timeline::ExchangeStamp;
  timeline::Call call = sample_call(Outcome::kRejected, 401);
  call.error = {"invalid_api_key",
                "The key in authorization is not a key of this gateway. It looks like a key of "
                "Anthropic; send a key of this gateway instead."};
  call.client_request_id = "my-id-\x1b[31m1";  // hostile: a terminal must not obey it
  stamp(call, {{kHeadRead, 30'000}, {kFinished, 90'000}});
  return call;
}

// The client left while the upstream was still silent.
inline timeline::Call client_gone_call() {
  using enum timeline::AttemptStamp;
  timeline::Call call = sample_call(Outcome::kClientGone, 499);
  stamp_accepted(call);
  call.stream = true;
  call.error = {"client_gone", "client closed"};
  timeline::Attempt attempt = attempt_on("local", Outcome::kClientGone, 0);
  stamp(attempt, {{kBegun, 63'000},
                  {kLeased, 65'000},
                  {kResolved, 65'100},
                  {kConnected, 190'000},
                  {kSent, 220'000},
                  {kClosed, 2'500'220'000}});
  call.attempts.push_back(attempt);
  stamp(call, {{timeline::ExchangeStamp::kFinished, 2'500'230'000}});
  return call;
}

// Not streamed: the engine's durations are all that tells of the inside.
inline timeline::Call not_streamed_call() {
  using enum timeline::AttemptStamp;
  timeline::Call call = sample_call(Outcome::kOk, 200);
  stamp_accepted(call);
  timeline::Attempt attempt = attempt_on("vllm", Outcome::kOk, 200);
  attempt.connection.reused = true;
  attempt.connection.retransmits = 2;
  stamp(attempt, {{kBegun, 63'000},
                  {kLeased, 65'000},
                  {kSent, 95'000},
                  {kHead, 1'300'000'000},
                  {kFirstByte, 1'300'010'000},
                  {kClosed, 1'300'500'000}});
  call.attempts.push_back(attempt);
  stamp(call, {{timeline::ExchangeStamp::kFinished, 1'300'550'000}});
  call.engine = {"vllm", 900'000'000, 100'000'000, 50'000'000, 240'000'000, 1'050'000'000, 8};
  call.tokens = {2000, 8, 0, 64, 16, timeline::TokenSource::kEstimated};
  call.overhead_ns = 128'000;
  return call;
}

// The engine's durations exceed the time there was.
inline timeline::Call inconsistent_call() {
  timeline::Call call = not_streamed_call();
  call.engine.prefill_ns = 9 * kSecond;
  call.stamps_clamped = 3;
  return call;
}

// Names as long as they come.
inline timeline::Call long_names_call() {
  timeline::Call call = streamed_call();
  call.key = std::string(128, 'k');
  call.model = "模型" + std::string(200, 'm');
  call.attempts[0].channel = std::string(64, 'c');
  call.attempts[0].instance = std::string(200, 'h') + ":443";
  call.attempts[0].error = {"channel_error", std::string(500, 'e')};
  call.client_request_id = std::string(300, 'i');
  call.error = {"channel_error", std::string(300, 'x')};
  call.skipped = {{std::string(64, 's'), std::string(200, 'r')}};
  return call;
}

}  // namespace hw::terminal
