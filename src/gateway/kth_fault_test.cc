// Fail the k-th: each network operation of a scenario fails once, for k = 1, 2, 3 ... until the
// scenario completes without a failure. Whatever fails, the call is recorded once with conserved
// stages, and no connection, place in a pool or exchange is left behind.
#include <doctest/doctest.h>

#include "base/metrics.h"
#include "gateway/running_gateway.h"
#include "net/faults.h"

namespace hw::gateway {
namespace {

// Fails operation `k` of those on the gateway's own thread; imposters use plain sockets.
class KthFault final : public net::Faults {
 public:
  explicit KthFault(int k) : left_(k) {}
  bool fails(net::Operation) override { return --left_ == 0; }
  bool was_reached() const { return left_ <= 0; }

 private:
  std::atomic<int> left_;
};

enum class Client : uint8_t { kReads, kLeaves };

struct Scenario {
  const char* name;
  std::string_view body;
  Client client;
  std::vector<std::string> answers;  // one for each channel, by priority
};

// What one run left behind.
void run_with_fault(const Scenario& scenario, KthFault& fault) {
  std::vector<std::unique_ptr<Imposter>> upstreams;
  std::vector<route::ChannelOptions> channels;
  for (const std::string& answer : scenario.answers) {
    upstreams.push_back(std::make_unique<Imposter>(Imposter::always(answer)));
    channels.push_back(channel_to(upstreams.back()->port(), concat("c", channels.size())));
    channels.back().priority = 10 - static_cast<int>(channels.size());
  }
  RunningGateway running(channels);
  net::set_faults(&fault);
  {
    const TestSocket client = TestSocket::connect(running.port());
    client.send(request("/v1/chat/completions", scenario.body));
    if (scenario.client == Client::kReads) {
      client.read_until(
          [](const std::string& got) {
            return got.find("\r\n0\r\n\r\n") != std::string::npos ||
                   (got.find("transfer-encoding") == std::string::npos &&
                    got.find("content-length") != std::string::npos && is_whole_message(got));
          },
          2000);
    } else {
      client.read_until(
          [](const std::string& got) { return got.find("data:") != std::string::npos; }, 2000);
    }
  }
  running.shut_down();  // a pool that is not empty then asserts
  net::set_faults(nullptr);
  const std::vector<timeline::Call> calls = running.sink.ended();
  // The client's head may have been what could not be read: then there was no exchange.
  REQUIRE(calls.size() <= 1);
  REQUIRE(running.sink.begun() <= calls.size());
  for (const timeline::Call& call : calls) {
    CHECK(is_conserved(call));
    CHECK(call.outcome != Outcome::kGatewayError);
    for (const timeline::Attempt& attempt : call.attempts)
      CHECK(attempt.outcome != Outcome::kGatewayError);
  }
  CHECK(metrics().gauge("headway_inflight", "Exchanges under way.", {{"model", "m"}}).value() == 0);
}

TEST_CASE("whatever network operation fails, each exchange is settled and recorded once") {
  const std::string stream = concat(kSseHead, chunk(delta("a")), chunk(delta("b")), chunk(kStop),
                                    chunk(kDone), "0\r\n\r\n");
  const std::string endless = concat(kSseHead, chunk(delta("a")));
  const std::string busy =
      json_answer(R"({"error":{"message":"busy"}})", "503 Service Unavailable");
  const Scenario scenarios[] = {
      {"ok", kChat, Client::kReads, {json_answer(kAnswer)}},
      {"retry", kChat, Client::kReads, {busy, json_answer(kAnswer)}},
      {"stream", kStream, Client::kReads, {stream}},
      {"abort", kStream, Client::kLeaves, {endless}},
  };
  for (const Scenario& scenario : scenarios) {
    CAPTURE(scenario.name);
    bool reached = true;
    for (int k = 1; reached; ++k) {
      CAPTURE(k);
      REQUIRE(k < 200);
      KthFault fault(k);
      run_with_fault(scenario, fault);
      reached = fault.was_reached();
    }
  }
}

}  // namespace
}  // namespace hw::gateway
