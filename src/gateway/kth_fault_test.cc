// Fail the k-th: each network operation of a scenario fails once, for k = 1, 2, 3 ... until the
// scenario completes without a failure; then each operation of journal and database likewise.
// Whatever fails, the call is recorded once with conserved stages, and no connection, place in a
// pool or exchange is left behind.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/metrics.h"
#include "base/temp_folder.h"
#include "gateway/running_gateway.h"
#include "net/faults.h"
#include "store/store.h"

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

// What the scenario's upstreams answer, and the channels to them.
struct Upstreams {
  explicit Upstreams(const Scenario& scenario) {
    for (const std::string& answer : scenario.answers) {
      imposters.push_back(std::make_unique<Imposter>(Imposter::always(answer)));
      channels.push_back(channel_to(imposters.back()->port(), concat("c", channels.size())));
      channels.back().priority = 10 - static_cast<int>(channels.size());
    }
  }
  std::vector<std::unique_ptr<Imposter>> imposters;
  std::vector<route::ChannelOptions> channels;
};

bool is_whole_answer(const std::string& got) {
  return got.find("\r\n0\r\n\r\n") != std::string::npos ||
         (got.find("transfer-encoding") == std::string::npos &&
          got.find("content-length") != std::string::npos && is_whole_message(got));
}

// Does what the scenario's client does and gives what it got.
std::string ask(const RunningGateway& running, const Scenario& scenario) {
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", scenario.body));
  if (scenario.client == Client::kReads) return client.read_until(is_whole_answer, 2000);
  return client.read_until(
      [](const std::string& got) { return got.find("data:") != std::string::npos; }, 2000);
}

std::vector<Scenario> all_scenarios() {
  const std::string stream = concat(kSseHead, chunk(delta("a")), chunk(delta("b")), chunk(kStop),
                                    chunk(kDone), "0\r\n\r\n");
  const std::string endless = concat(kSseHead, chunk(delta("a")));
  const std::string busy =
      json_answer(R"({"error":{"message":"busy"}})", "503 Service Unavailable");
  return {
      {"ok", kChat, Client::kReads, {json_answer(kAnswer)}},
      {"retry", kChat, Client::kReads, {busy, json_answer(kAnswer)}},
      {"stream", kStream, Client::kReads, {stream}},
      {"abort", kStream, Client::kLeaves, {endless}},
  };
}

// Runs every scenario with a fault at its k-th operation, for each k until none is reached.
template <class Fault>
void fail_each_operation(void (*run)(const Scenario&, Fault&)) {
  for (const Scenario& scenario : all_scenarios()) {
    CAPTURE(scenario.name);
    bool reached = true;
    for (int k = 1; reached; ++k) {
      CAPTURE(k);
      REQUIRE(k < 200);
      Fault fault(k);
      run(scenario, fault);
      reached = fault.was_reached();
    }
  }
}

void run_with_network_fault(const Scenario& scenario, KthFault& fault) {
  const Upstreams upstreams(scenario);
  RunningGateway running(upstreams.channels);
  net::set_faults(&fault);
  ask(running, scenario);
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
  fail_each_operation<KthFault>(run_with_network_fault);
}

// Fails operation `k` of journal and database.
class KthStoreFault final : public journal::FaultSeam {
 public:
  explicit KthStoreFault(int k) : left_(k) {}
  bool fails(journal::FaultPoint point) override {
    return point != journal::FaultPoint::kRecycle && left_.fetch_sub(1) == 1;
  }
  bool was_reached() const { return left_.load() <= 0; }

 private:
  std::atomic<int> left_;
};

std::vector<timeline::Call> stored_calls(store::Store& store) {
  const Result<store::CallPage> page = store.list(store::CallQuery{});
  REQUIRE(page);
  return page->calls;
}

// The client is served whatever journal and database do; of what was recorded nothing is lost that
// is not counted, and nothing is there twice.
void run_with_store_fault(const Scenario& scenario, KthStoreFault& fault) {
  const TempFolder folder;
  store::StoreOptions options;
  options.path = folder.file("headway.db");
  options.journal_bytes = 64 * 1024;
  Registry registry;
  const Upstreams upstreams(scenario);
  std::vector<timeline::Call> calls;
  uint64_t lost = 0;
  {
    options.faults = &fault;
    const auto store = store::Store::open(options, 1, registry);
    if (!store) return;  // refused to start: nothing was taken
    RunningGateway running(upstreams.channels, {}, nullptr, &(*store)->sink(0));
    CHECK(ask(running, scenario).starts_with("HTTP/1.1 200 "));
    running.shut_down();
    calls = running.sink.ended();
    REQUIRE(calls.size() == 1);
    CHECK(is_conserved(calls.front()));
    lost = (*store)->health().lost_calls;
  }
  options.faults = nullptr;
  Registry fresh;
  const auto store = store::Store::open(options, 1, fresh);
  REQUIRE(store);
  const std::vector<timeline::Call> kept = stored_calls(**store);
  REQUIRE(kept.size() + lost == 1);
  if (kept.empty()) return;
  CHECK(kept.front().id == calls.front().id);
  CHECK(kept.front().outcome == calls.front().outcome);
  CHECK(kept.front().total_ns() == calls.front().total_ns());
  CHECK(is_conserved(kept.front()));
}

TEST_CASE("whatever journal or database operation fails, the client is served and the call kept") {
  fail_each_operation<KthStoreFault>(run_with_store_fault);
}

}  // namespace
}  // namespace hw::gateway
