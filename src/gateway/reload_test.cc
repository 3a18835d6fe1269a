#include "edge/upstreams.h"

#include <doctest/doctest.h>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

std::string ask(const TestSocket& client) {
  client.send(request("/v1/chat/completions", kChat));
  return client.read_until(is_whole_message);
}

TEST_CASE("after a reload no connection of another transport is used, nor kept") {
  std::atomic<int> open{0};
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    ++open;
    while (!self.take_request(client).empty()) client.send(json_answer(kAnswer));
    --open;
  });
  const route::ChannelOptions plain = channel_to(upstream.port());
  route::ChannelOptions secure = plain;
  secure.base_url.tls = true;
  RunningGateway running({plain});
  const TestSocket client = TestSocket::connect(running.port());
  for (int round = 0; round < 2; ++round) {
    CHECK(ask(client).find("HTTP/1.1 200") == 0);
    running.reload({secure});
    const std::string told = ask(client);  // the upstream speaks no TLS
    CHECK(told.find("HTTP/1.1 502") == 0);
    CHECK(told.find("TLS") != std::string::npos);
    for (int i = 0; i < 2000 && open > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(open == 0);
    running.reload({plain});
  }
  CHECK(ask(client).find("HTTP/1.1 200") == 0);
  CHECK(!running.sink.wait(5).back().attempts.back().connection.reused);
}

TEST_CASE("a connection is kept over a reload that changes nothing about it") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  route::ChannelOptions channel = channel_to(upstream.port());
  RunningGateway running({channel});
  const TestSocket client = TestSocket::connect(running.port());
  ask(client);
  channel.models.push_back("another");
  channel.credential = "sk-new";
  running.reload({channel});
  ask(client);
  CHECK(running.sink.wait(2).back().attempts.back().connection.reused);
  CHECK(upstream.requests().at(1).find("authorization: Bearer sk-new") != std::string::npos);
}

TEST_CASE("a cap that a reload raises holds at once, for those who wait as well") {
  std::atomic<int> asked{0};
  std::atomic<bool> go{false};
  Imposter upstream([&](Imposter& self, TestSocket& client) {
    while (!self.take_request(client).empty()) {
      ++asked;
      while (!go && !self.ending()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      client.send(json_answer(kAnswer));
    }
  });
  route::ChannelOptions channel = channel_to(upstream.port());
  channel.connections_max = 1;
  RunningGateway running({channel});
  std::vector<TestSocket> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(TestSocket::connect(running.port()));
    clients.back().send(request("/v1/chat/completions", kChat));
  }
  const auto wait_for = [&](int count) {
    for (int i = 0; i < 2000 && asked < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return asked.load();
  };
  CHECK(wait_for(1) == 1);
  channel.connections_max = 100;
  running.reload({channel});
  CHECK(wait_for(4) == 4);
  go = true;
  for (const TestSocket& client : clients)
    CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
}

}  // namespace
}  // namespace hw::gateway
