// Bodies that no socket buffer holds: whose time it is, which clock ends it, who may interrupt.
#include <doctest/doctest.h>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

using timeline::Call;

std::string large_answer(size_t padding) {
  return json_answer(concat(kAnswer.substr(0, kAnswer.size() - 1), R"(,"padding":")",
                            std::string(padding, 'x'), "\"}"));
}

TEST_CASE("while a client does not read a large answer, the time is not the gateway's") {
  for (const size_t padding : {size_t{6'000'000}, size_t{12'000'000}}) {
    CAPTURE(padding);
    Imposter upstream(Imposter::always(large_answer(padding)));
    RunningGateway running({channel_to(upstream.port())});
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/chat/completions", kChat));
    client.read_until([](const std::string& s) { return !s.empty(); }, 30'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    client.read_until(
        [](const std::string& s) { return s.ends_with("\"}") || s.ends_with("\r\n0\r\n\r\n"); });
    const Call call = running.sink.wait(1).at(0);
    CHECK(call.outcome == Outcome::kOk);
    CHECK(call.overhead_ns < call.total_ns() - kSecond);
    CHECK(is_conserved(call));
  }
}

TEST_CASE("while an upstream pauses in a large answer, the time is not the gateway's") {
  const std::string answer = large_answer(12'000'000);
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    client.send(std::string_view(answer).substr(0, 10'000'000));
    std::this_thread::sleep_for(std::chrono::milliseconds(4000));
    client.send(std::string_view(answer).substr(10'000'000));
  });
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  constexpr int kQuietMs = 60'000;  // the pause, and what a busy machine adds to it
  client.read_until([](const std::string& s) { return s.ends_with("\r\n0\r\n\r\n"); }, kQuietMs);
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kOk);
  CHECK(call.overhead_ns < call.total_ns() - kSecond);
}

TEST_CASE("an upstream that falls silent in a large answer is a time-out and no broken channel") {
  const std::string answer = large_answer(12'000'000);
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    client.send(std::string_view(answer).substr(0, 10'000'000));
    client.peer_closed(3000);
  });
  Options options;
  options.timeouts.silence_ms = 150;
  RunningGateway running({channel_to(upstream.port())}, options);
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  CHECK(!client.read_to_end().ends_with("\r\n0\r\n\r\n"));
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kTimeout);
  CHECK(call.error.code == "timeout_silence");
  CHECK(is_conserved(call));
}

TEST_CASE("a refusal that comes before a large request was sent ends the sending") {
  Imposter upstream([](Imposter&, TestSocket& client) {
    client.read_until([](const std::string& s) { return s.size() > 1000; });
    client.send(
        json_answer(R"({"error":{"message":"too large for us","type":"invalid_request_error"}})",
                    "413 Payload Too Large"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  Options options;
  options.timeouts.total_ms = 2000;
  RunningGateway running({channel_to(upstream.port())}, options);
  const TestSocket client = TestSocket::connect(running.port());
  const std::string body = concat(R"({"model":"m","messages":[{"role":"user","content":")",
                                  std::string(20'000'000, 'x'), R"("}]})");
  client.send(request("/v1/chat/completions", body));
  const std::string got = client.read_until(is_whole_message);
  CHECK(got.find("HTTP/1.1 413") == 0);
  CHECK(got.find("too large for us") != std::string::npos);
  const Call call = running.sink.wait(1).at(0);
  CHECK(call.outcome == Outcome::kClientError);
  CHECK(is_conserved(call));
}

}  // namespace
}  // namespace hw::gateway
