// connections_max: of the whole process, however its loops share the connections.
#include <doctest/doctest.h>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

std::string status_of(const std::string& answer) {
  return answer.substr(0, 12);
}

TEST_CASE("the process serves connections_max clients on all loops and turns the others away") {
  constexpr int kMax = 5;  // odd: no share of four loops sums up to it
  Options options;
  options.threads = 4;
  options.connections_max = kMax;
  RunningGateway running({}, options);
  std::vector<TestSocket> clients;
  const auto ask = [&](const TestSocket& client) {
    client.send("POST /v1/messages HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\n\r\n");
    return client.read_until(is_whole_message);
  };
  for (int i = 0; i < kMax; ++i) {
    clients.push_back(TestSocket::connect(running.port()));
    CHECK(status_of(ask(clients.back())) == "HTTP/1.1 401");
  }
  for (int i = 0; i < 3; ++i) {
    const TestSocket another = TestSocket::connect(running.port());
    const std::string told = ask(another);
    CHECK(status_of(told) == "HTTP/1.1 503");
    CHECK(told.find("\"type\":\"overloaded_error\"") != std::string::npos);
    CHECK(told.find("connections_max") != std::string::npos);
    CHECK(told.find("retry-after: ") != std::string::npos);
    CHECK(another.peer_closed(2000));
  }
  clients.pop_back();
  std::string told;
  for (int i = 0; i < 500 && status_of(told) != "HTTP/1.1 401"; ++i) {
    const TestSocket another = TestSocket::connect(running.port());
    told = ask(another);
  }
  CHECK(status_of(told) == "HTTP/1.1 401");  // there is a place again
}

}  // namespace
}  // namespace hw::gateway
