// Records for tests: a sound one, to be damaged as a case wants it.
#pragma once

#include <string>
#include <utility>

#include "probe/record.h"

namespace hw::verify {

// An exchange that was answered by a sound chat endpoint, not streamed.
inline probe::Exchange sound_plain() {
  probe::Exchange out;
  out.url = "http://api.test/v1/chat/completions";
  out.peer = "10.0.0.1:80";
  out.addresses = {"10.0.0.1"};
  out.times.resolved = 2 * kMillisecond;
  out.times.connected = 4 * kMillisecond;
  out.times.sent = 5 * kMillisecond;
  out.times.head = 300 * kMillisecond;
  out.times.first_byte = 300 * kMillisecond;
  out.times.ended = 301 * kMillisecond;
  out.status = 200;
  out.body =
      R"({"model":"m-1","choices":[{"finish_reason":"stop","message":{"content":"one, two"}}],)"
      R"("usage":{"prompt_tokens":9,"completion_tokens":4}})";
  out.body_bytes = out.body.size();
  out.reading = probe::read_body(out.dialect, out.body);
  return out;
}

// The same answered with `status` and `body`.
inline probe::Exchange answered(int status, std::string body) {
  probe::Exchange out = sound_plain();
  out.status = status;
  out.body = std::move(body);
  out.body_bytes = out.body.size();
  out.reading = probe::read_body(out.dialect, out.body);
  return out;
}

// An exchange that failed before its head, having got as far as its times say.
inline probe::Exchange failed(probe::Failure failure, std::string words) {
  probe::Exchange out = sound_plain();
  out.failure = failure;
  out.failure_words = std::move(words);
  out.status = 0;
  out.body.clear();
  out.body_bytes = 0;
  out.reading = probe::Reading();
  out.times.head = -1;
  out.times.first_byte = -1;
  const bool connected = failure != probe::Failure::kDns && failure != probe::Failure::kConnect;
  if (failure == probe::Failure::kDns) out.times.resolved = -1;
  if (!connected) out.times.connected = -1;
  const bool secured =
      connected && failure != probe::Failure::kTls && failure != probe::Failure::kTunnel;
  if (!secured) out.times.sent = -1;
  return out;
}

// A sound stream of ten tokens, 20 ms apart.
inline probe::Exchange sound_stream() {
  probe::Exchange out = sound_plain();
  out.streamed = true;
  out.is_stream = true;
  out.headers = {{"content-type", "text/event-stream"}};
  out.reading = probe::Reading();
  constexpr int kTokens = 10;
  for (int i = 0; i < kTokens; ++i) {
    probe::BodyRead read;
    read.at = (300 + 20 * i) * kMillisecond;
    read.events = read.token_events = 1;
    out.reads.push_back(read);
  }
  out.times.first_event = out.times.first_token = out.reads.front().at;
  out.times.last_token = out.reads.back().at;
  out.times.terminal = out.times.ended = out.times.last_token + kMillisecond;
  out.stream.events = kTokens + 2;
  out.stream.token_events = kTokens;
  out.stream.output_bytes = 60;
  out.stream.finished = true;
  out.stream.finish_reason = "stop";
  return out;
}

// A check in which nothing is wrong.
inline probe::Record sound_record() {
  probe::Record out;
  out.url = probe::inspect_base_url("http://api.test/v1");
  out.key = probe::look_at_key("sk-test-4f9a7c21d0b8e6");
  out.model = "m";
  out.dialect_named = true;
  out.timeout_ns = 60 * kSecond;
  probe::Try first;
  first.base_url = "http://api.test/v1";
  first.helped = true;
  first.exchange = sound_plain();
  out.tries.push_back(std::move(first));
  out.stream = sound_stream();
  return out;
}

// Puts `exchange` in place of the first answer; nothing is streamed then.
inline void answer_with(probe::Record& record, probe::Exchange exchange) {
  record.tries.front().exchange = std::move(exchange);
  record.stream.reset();
}

// Adds a try that changed something and got further.
inline probe::Try& add_help(probe::Record& record, probe::Change change, std::string base_url) {
  probe::Try made;
  made.change = change;
  made.base_url = std::move(base_url);
  made.helped = true;
  made.exchange = sound_plain();
  record.tries.push_back(std::move(made));
  return record.tries.back();
}

}  // namespace hw::verify
