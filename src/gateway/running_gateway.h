// RunningGateway: a gateway on loopback for tests, with its calls in memory, and the requests and
// answers that tests are made of.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gateway/gateway.h"
#include "gateway/imposter.h"
#include "timeline/stages.h"

namespace hw::gateway {

constexpr std::string_view kSecret = "hw-test-secret";

// Keeps calls of all loops; a gateway in a test has one.
class SharedSink final : public store::CallSink {
 public:
  // Tells `behind` what it is told too; null: nobody.
  explicit SharedSink(store::CallSink* behind = nullptr) : behind_(behind) {}
  void begin(const timeline::Call& call) override {
    const std::lock_guard lock(mutex_);
    begun_.push_back(call);
    if (behind_ != nullptr) behind_->begin(call);
  }
  void end(const timeline::Call& call) override {
    const std::lock_guard lock(mutex_);
    ended_.push_back(call);
    if (behind_ != nullptr) behind_->end(call);
  }
  // Waits until `count` calls have ended.
  std::vector<timeline::Call> wait(size_t count) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (ended_.size() >= count) return ended_;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  std::vector<timeline::Call> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  size_t begun() {
    const std::lock_guard lock(mutex_);
    return begun_.size();
  }

 private:
  store::CallSink* const behind_;
  std::mutex mutex_;
  std::vector<timeline::Call> begun_, ended_;
};

inline route::ChannelOptions channel_to(uint16_t port, std::string name = "up",
                                        Family family = Family::kOpenai) {
  route::ChannelOptions out;
  out.name = std::move(name);
  out.family = family;
  out.base_url.host = "127.0.0.1";
  out.base_url.port = port;
  out.base_url.path = family == Family::kOpenai ? "/v1" : "";
  out.credential = "sk-upstream";
  out.serves = route::EndpointSet::all_of(family);
  out.models = {"m"};
  return out;
}

// A running gateway in front of the given channels.
class RunningGateway {
 public:
  // `store` is told of the calls beside `sink`; null: nobody.
  explicit RunningGateway(std::vector<route::ChannelOptions> channels, Options options = {},
                          Mounted mounted = nullptr, store::CallSink* store = nullptr)
      : sink(store) {
    options.listen_port = 0;
    if (options.threads == 0) options.threads = 1;
    options.drain_s = 0;
    Snapshot& snapshot = settings_;
    snapshot.options = options;
    snapshot.catalogue = std::make_shared<route::Catalogue>(std::move(channels));
    std::vector<access::KeyEntry> keys;
    access::KeyEntry entry;
    entry.digest = access::sha256(kSecret);
    entry.key.name = "dev";
    keys.push_back(entry);
    snapshot.keys = std::make_shared<access::KeySnapshot>(std::move(keys));
    Parts parts;
    parts.sink = [this](int) -> store::CallSink& { return sink; };
    parts.mounted = std::move(mounted);
    Result<std::unique_ptr<Gateway>> opened = Gateway::open(snapshot, std::move(parts));
    REQUIRE(opened);
    gateway_ = std::move(*opened);
    thread_ = std::thread([this] { gateway_->run(); });
  }
  ~RunningGateway() { shut_down(); }
  // Ends the gateway; afterwards every call has been recorded.
  void shut_down() {
    if (!thread_.joinable()) return;
    gateway_->stop();
    thread_.join();
    gateway_.reset();
  }
  // What is asked from now on is served by these channels.
  void reload(std::vector<route::ChannelOptions> channels) {
    settings_.catalogue =
        std::make_shared<route::Catalogue>(std::move(channels), settings_.catalogue.get());
    gateway_->reload(settings_);
  }
  uint16_t port() const { return gateway_->port(); }
  Gateway& gateway() { return *gateway_; }

  SharedSink sink;

 private:
  Snapshot settings_;
  std::unique_ptr<Gateway> gateway_;
  std::thread thread_;
};

inline std::string request(std::string_view path, std::string_view body,
                           std::string_view extra = {}) {
  return concat("POST ", path, " HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ", kSecret,
                "\r\nContent-Type: application/json\r\n", extra, "Content-Length: ", body.size(),
                "\r\n\r\n", body);
}

inline constexpr std::string_view kChat =
    R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";
inline constexpr std::string_view kStream =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

inline std::string json_answer(std::string_view body, std::string_view status = "200 OK",
                               std::string_view extra = {}) {
  return concat("HTTP/1.1 ", status, "\r\nContent-Type: application/json\r\n", extra,
                "Content-Length: ", body.size(), "\r\n\r\n", body);
}
inline constexpr std::string_view kAnswer =
    R"({"id":"c1","object":"chat.completion","choices":[{"index":0,"message":)"
    R"({"role":"assistant","content":"hello"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}})";

inline std::string chunk(std::string_view payload) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", payload.size());
  return concat(std::string_view(size), payload, "\r\n");
}
inline constexpr std::string_view kSseHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
inline std::string delta(std::string_view text) {
  return concat(R"(data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,)",
                R"("delta":{"content":")", text, R"("},"finish_reason":null}]})", "\n\n");
}
inline constexpr std::string_view kStop =
    "data: "
    "{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},"
    "\"finish_reason\":\"stop\"}]}\n\n";
inline constexpr std::string_view kDone = "data: [DONE]\n\n";

inline bool is_conserved(const timeline::Call& call) {
  const timeline::StageList list = timeline::stages(call);
  Nanos at = 0;
  for (const timeline::Stage& stage : list.stages) {
    if (stage.start != at) return false;
    at = stage.end;
  }
  return at == call.total_ns() && list.clamped == 0;
}

}  // namespace hw::gateway
