// What clients are told when the gateway's time is over, and what is recorded of it.
#include <doctest/doctest.h>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

using timeline::Call;

// Sends `first` and then nothing.
Imposter::Serve silent_after(std::string first) {
  return [first](Imposter& self, TestSocket& client) {
    if (self.take_request(client).empty()) return;
    client.send(first);
    client.peer_closed(5000);
  };
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Ends `running` while `client` reads; gives what it was told since then.
std::string told_at_the_end(RunningGateway& running, const TestSocket& client) {
  std::thread ending([&] { running.shut_down(); });
  const std::string told = client.read_to_end();
  ending.join();
  return told;
}

void check_refused(const Call& call, int status) {
  CHECK(call.outcome == Outcome::kRejected);
  CHECK(call.error.code == "draining");
  CHECK(call.status == status);
  if (!call.attempts.empty()) CHECK(call.attempts.back().outcome == Outcome::kRejected);
  CHECK(is_conserved(call));
}

TEST_CASE("a stream that outlasts drain_s gets an error event of its dialect and no clean end") {
  struct Case {
    Family family;
    std::string_view path, first, error;
  };
  const std::string begun =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n";
  const std::string token = delta("a");
  const Case cases[] = {
      {Family::kOpenai, "/v1/chat/completions", token, "data: {\"error\":"},
      {Family::kAnthropic, "/v1/messages", begun, "event: error\ndata: {\"type\":\"error\""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.path);
    Imposter upstream(silent_after(concat(kSseHead, chunk(each.first))));
    RunningGateway running({channel_to(upstream.port(), "up", each.family)});
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request(each.path, kStream));
    client.read_until([&](const std::string& got) { return has(got, each.first); });
    const std::string told = told_at_the_end(running, client);
    CHECK(has(told, each.error));
    CHECK(has(told, "drain_s"));
    CHECK_FALSE(has(told, "\r\n0\r\n\r\n"));
    REQUIRE(running.sink.ended().size() == 1);
    check_refused(running.sink.ended()[0], 200);
  }
}

TEST_CASE("who waits for an answer when drain_s is over gets 503 and may try again") {
  Imposter upstream(silent_after(""));
  route::ChannelOptions first = channel_to(upstream.port(), "first");
  first.priority = 1;
  RunningGateway running({first, channel_to(upstream.port(), "second")});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  while (upstream.requests().empty()) std::this_thread::yield();
  const std::string told = told_at_the_end(running, client);
  CHECK(told.find("HTTP/1.1 503") == 0);
  CHECK(has(told, "retry-after: "));
  CHECK(has(told, "\"code\":\"draining\""));
  REQUIRE(running.sink.ended().size() == 1);
  check_refused(running.sink.ended()[0], 503);
  CHECK(upstream.requests().size() == 1);  // no other channel is tried any more
}

TEST_CASE("who is still sending its request when drain_s is over gets 503") {
  RunningGateway running({});
  const TestSocket client = TestSocket::connect(running.port());
  const std::string whole = request("/v1/chat/completions", kChat);
  client.send(std::string_view(whole).substr(0, whole.size() - 5));
  // What was sent before is read before what is sent now.
  const TestSocket later = TestSocket::connect(running.port());
  later.send("GET /livez HTTP/1.1\r\nHost: gw\r\n\r\n");
  later.read_until(is_whole_message);
  const std::string told = told_at_the_end(running, client);
  CHECK(told.find("HTTP/1.1 503") == 0);
  REQUIRE(running.sink.ended().size() == 1);
  check_refused(running.sink.ended()[0], 503);
}

TEST_CASE("a client that takes nothing cannot be told, and is not said to have left") {
  std::string flood(kSseHead);
  for (int i = 0; i < 400; ++i) flood += chunk(delta(std::string(30'000, 'x')));
  Imposter upstream(silent_after(flood));
  RunningGateway running({channel_to(upstream.port())});
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kStream));
  while (upstream.requests().empty()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until all that fits is written
  running.shut_down();
  REQUIRE(running.sink.ended().size() == 1);
  check_refused(running.sink.ended()[0], 200);
}

}  // namespace
}  // namespace hw::gateway
