#include "edge/client_answer.h"

#include <array>

#include "base/text.h"
#include "http/chunked.h"
#include "wire/error_body.h"

namespace hw::edge {

void ClientAnswer::hold_head(std::string head, int status) {
  if (head_sent()) return;
  held_head_ = std::move(head);
  held_status_ = status;
}

void ClientAnswer::put_head_in_front() {
  if (head_sent()) return;
  scratch_ += held_head_;
  release(held_head_);
  status_ = held_status_;
}

std::string& ClientAnswer::begin() {
  scratch_.clear();
  put_head_in_front();
  if (!client_.http_1_0()) chunk_ = http::begin_chunk(scratch_);
  return scratch_;
}

void ClientAnswer::end(Last last) {
  if (!client_.http_1_0()) http::end_chunk(scratch_, chunk_);
  if (last == Last::kNo) return;
  ended_ = true;
  if (client_.http_1_0()) {
    client_.end_connection();
  } else {
    scratch_ += http::kLastChunk;
  }
}

bool ClientAnswer::try_flush() {
  if (scratch_.empty()) return !client_.gone();
  const size_t written = client_.try_write(scratch_);
  if (written == scratch_.size()) return true;
  pending_.assign(scratch_, written);
  return false;
}

net::Task<bool> ClientAnswer::flush() {
  client_.deadline().set(due_);
  const bool written = co_await client_.write(std::string_view(pending_));
  release(pending_);
  co_return written;
}

net::Task<bool> ClientAnswer::heartbeat(Dialect dialect, const AnswerLabels& labels) {
  if (!head_sent()) {
    OwnHead head;
    head.content_type = "text/event-stream; charset=utf-8";
    head.kind = AnswerKind::kEventStream;
    head.framing.kind =
        client_.http_1_0() ? AnswerFraming::Kind::kUntilClose : AnswerFraming::Kind::kChunked;
    head.labels = labels;
    head.keep_alive = client_.keep_alive();
    std::string text;
    append_own_head(text, head);
    hold_head(std::move(text), 200);
  }
  if (stream_ != nullptr) {
    stream_->append_heartbeat(begin());
  } else {
    wire::append_heartbeat(begin(), dialect, nullptr);
  }
  end(Last::kNo);
  ++heartbeats_;
  if (try_flush()) co_return true;
  const bool written = co_await flush();
  co_return written;
}

net::Task<bool> ClientAnswer::probe() {
  begin() += ":\n\n";
  end(Last::kNo);
  if (try_flush()) co_return true;
  const bool written = co_await flush();
  co_return written;
}

std::string& ClientAnswer::begin_whole(int status) {
  status_ = status;
  ended_ = true;
  scratch_.clear();
  return scratch_;
}

net::Task<bool> ClientAnswer::whole(std::string_view head, std::string_view body, int status) {
  if (body.size() <= kSmallBody) {
    begin_whole(status).append(head).append(body);
    if (try_flush()) co_return true;
    const bool written = co_await flush();
    co_return written;
  }
  status_ = status;
  ended_ = true;
  client_.deadline().set(due_);
  std::array<iovec, 2> pieces = {iovec{const_cast<char*>(head.data()), head.size()},
                                 iovec{const_cast<char*>(body.data()), body.size()}};
  const bool written = co_await client_.write(std::span<iovec>(pieces));
  co_return written;
}

}  // namespace hw::edge
