#include "gateway/loop_metrics.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

// The value of a series at /metrics; -1 where there is none of that name.
double scraped(const RunningGateway& running, std::string_view series) {
  const TestSocket client = TestSocket::connect(running.port());
  client.send("GET /metrics HTTP/1.1\r\nHost: gw\r\n\r\n");
  const std::string answer = client.read_until(is_whole_message);
  const size_t at = answer.find(concat("\n", series, " "));
  return at == std::string::npos ? -1 : std::atof(answer.c_str() + at + 1 + series.size());
}

// Waits until the series has the value; false after five seconds.
bool becomes(const RunningGateway& running, std::string_view series, double value) {
  for (int i = 0; i < 1000; ++i) {
    if (scraped(running, series) == value) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_CASE("headway_queue_depth counts who waits for a connection of a capped channel") {
  std::atomic<bool> go{false};
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    while (!self.take_request(client).empty()) {
      while (!go && !self.ending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      client.send(json_answer(kAnswer));
    }
  });
  route::ChannelOptions channel = channel_to(upstream.port());
  channel.connections_max = 1;
  RunningGateway running({channel});
  CHECK(scraped(running, "headway_queue_depth") == 0);
  std::vector<TestSocket> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(TestSocket::connect(running.port()));
    clients.back().send(request("/v1/chat/completions", kChat));
  }
  CHECK(becomes(running, "headway_queue_depth", 2));
  go = true;
  for (const TestSocket& client : clients) {
    CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  }
  CHECK(scraped(running, "headway_queue_depth") == 0);
}

TEST_CASE("a client that leaves while it sends its request is counted as lost in the upload") {
  RunningGateway running({channel_to(1)});
  constexpr std::string_view kUpload = "headway_aborts_total{phase=\"upload\"}";
  const double before = scraped(running, kUpload);
  REQUIRE(before >= 0);
  const std::string whole = request("/v1/chat/completions", kChat);
  {
    const TestSocket client = TestSocket::connect(running.port());
    client.send(std::string_view(whole).substr(0, whole.size() - 1));
  }
  CHECK(becomes(running, kUpload, before + 1));
  CHECK(running.sink.wait(1).at(0).outcome == Outcome::kClientGone);
}

}  // namespace
}  // namespace hw::gateway
