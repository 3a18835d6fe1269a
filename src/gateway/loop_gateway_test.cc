#include "gateway/loop_gateway.h"

#include <doctest/doctest.h>

#include <condition_variable>

#include "gateway/running_gateway.h"

namespace hw::gateway {
namespace {

// What stands behind /api here: changes wait until they are let go, as behind a locked database.
class LockedDatabase {
 public:
  MountedAnswer serve(const MountedRequest& request) {
    MountedAnswer answer;
    answer.body = "{}";
    if (request.method == "GET") return answer;
    std::unique_lock guard(lock_);
    ++changes_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return free_; });
    return answer;
  }
  void wait_for_a_change() {
    std::unique_lock guard(lock_);
    changed_.wait_for(guard, std::chrono::seconds(5), [this] { return changes_ > 0; });
  }
  void unlock() {
    const std::lock_guard guard(lock_);
    free_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int changes_ = 0;
  bool free_ = false;
};

std::string api_request(std::string_view method) {
  return concat(method, " /api/keys HTTP/1.1\r\nHost: gw\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_CASE("changes that wait for the database hold up neither look-ups of names nor questions") {
  Imposter upstream(Imposter::always(json_answer(kAnswer)));
  route::ChannelOptions channel = channel_to(upstream.port());
  channel.base_url.host = "localhost";  // a name: to be looked up
  LockedDatabase database;
  RunningGateway running({channel}, Options(),
                         [&](const MountedRequest& request) { return database.serve(request); });
  std::vector<TestSocket> changes;
  const auto change = [&] {
    changes.push_back(TestSocket::connect(running.port()));
    changes.back().send(api_request("POST"));
  };
  change();
  database.wait_for_a_change();
  for (int i = 0; i < 12; ++i) change();  // one runs, eight wait
  int refused = 0;
  for (size_t i = 1; i < changes.size(); ++i) {
    const std::string told = changes[i].read_until(is_whole_message, 200);
    if (told.empty()) continue;
    CHECK(told.find("HTTP/1.1 503") == 0);
    CHECK(told.find("wait already") != std::string::npos);
    ++refused;
  }
  CHECK(refused == 4);

  const TestSocket asks = TestSocket::connect(running.port());
  asks.send(api_request("GET"));
  CHECK(asks.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  const TestSocket client = TestSocket::connect(running.port());
  client.send(request("/v1/chat/completions", kChat));
  CHECK(client.read_until(is_whole_message).find("HTTP/1.1 200") == 0);
  database.unlock();
  CHECK(changes[0].read_until(is_whole_message).find("HTTP/1.1 200") == 0);
}

}  // namespace
}  // namespace hw::gateway
