#include "engine_server/answer.h"

#include <utility>

#include "net/loop.h"

namespace hw::engine_server {

void Answer::on_update(const engine::Update& update) {
  {
    const std::lock_guard lock(mutex_);
    news_.text += update.text;
    news_.output_tokens = update.output_tokens;
    news_.ending = update.ending;
    if (std::exchange(announced_, true)) return;
  }
  loop_.post([self = shared_from_this()] {
    if (self->event_ != nullptr) self->event_->raise(kNews);
  });
}

engine::Update Answer::take() {
  const std::lock_guard lock(mutex_);
  announced_ = false;
  const int output_tokens = news_.output_tokens;
  engine::Update taken = std::exchange(news_, {});
  news_.output_tokens = output_tokens;
  return taken;
}

}  // namespace hw::engine_server
