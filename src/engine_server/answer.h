// One answer on its way from the engine's thread to the loop that serves its client.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/core.h"
#include "http/server.h"
#include "net/event.h"

namespace hw::net {
class Loop;
}

namespace hw::engine_server {

// Raised at the waiting coroutine when there is news.
inline constexpr net::Signals kNews = http::kFirstOwnSignal;

// Shared by both sides. News that the loop has not taken yet is joined, so that a slow client costs
// one string, bounded by the answer's length.
class Answer final : public engine::Sink, public std::enable_shared_from_this<Answer> {
 public:
  // Both outlive the engine and the coroutine; `event` until detach().
  Answer(net::Loop& loop, net::Event& event) : loop_(loop), event_(&event) {}

  // The engine's side.
  void on_update(const engine::Update& update) override;

  // The loop's side: what came since the last call; kNews is raised when there is something.
  engine::Update take();
  // Nobody waits any more.
  void detach() { event_ = nullptr; }

 private:
  net::Loop& loop_;
  net::Event* event_;  // of the loop's thread
  std::mutex mutex_;
  engine::Update news_;     // under mutex_
  bool announced_ = false;  // under mutex_: the loop knows of it
};

}  // namespace hw::engine_server
