// ClientAnswer: the writing side of one exchange. Knows what the client has been sent, holds a head
// back until there is something to send with it, and frames a stream's bytes as one chunk a write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "edge/heads.h"
#include "http/server.h"
#include "net/task.h"

namespace hw::edge {

// What writes a stream's events, as far as a heartbeat between them must know it.
class Stream {
 public:
  // What was written ends between two events: something may be put in.
  virtual bool at_boundary() const = 0;
  // Appends what keeps the client alive.
  virtual void append_heartbeat(std::string& out) = 0;

 protected:
  ~Stream() = default;
};

class ClientAnswer {
 public:
  // `scratch` is the loop's buffer for what is being composed; used between two waits only.
  ClientAnswer(http::ServerConnection& client, std::string& scratch)
      : client_(client), scratch_(scratch) {}

  // Nothing has been sent, and nothing of an answer is held either.
  bool untouched() const { return status_ == 0; }
  // A byte of an upstream's answer has been relayed: no other channel may serve this exchange.
  bool relayed() const { return relayed_; }
  // The client has a head (perhaps only of a heartbeat): the status is fixed.
  bool head_sent() const { return status_ != 0; }
  // What the client was sent; 0: nothing yet.
  int status() const { return status_; }
  uint32_t heartbeats() const { return heartbeats_; }

  // --- a stream. Compose with begin(), payload(), end(), then write with flush().
  // The head to send in front of the first bytes; ignored where a heartbeat has sent one.
  void hold_head(std::string head, int status);
  // The end of the body has been composed.
  bool ended() const { return ended_; }
  // Where to append the bytes of the stream for this write.
  std::string& begin();
  // Closes the chunk; `last` adds the end of the body.
  enum class Last : uint8_t { kNo, kYes };
  void end(Last last);
  // True when everything composed was written at once; else await flush().
  bool try_flush();
  // No write of this exchange goes on beyond `due` (monotonic): its total_ms.
  void set_due(Nanos due) { due_ = due; }
  // Writes what is left, however long the client takes: until write_stall_ms or the due time.
  // False: the client is gone, or one of the two has passed.
  net::Task<bool> flush();
  // Counts what was composed as bytes of the upstream.
  void mark_relayed() { relayed_ = true; }

  // --- a heartbeat: in front of everything it sends a 200 head of an event stream.
  // Who writes the stream; null before there is one.
  void set_stream(Stream* stream) { stream_ = stream; }
  // Whether one may be written now: the stream has not ended and is between two events.
  bool heartbeat_possible() const {
    return !ended_ && (stream_ == nullptr || stream_->at_boundary());
  }
  net::Task<bool> heartbeat(Dialect dialect, const AnswerLabels& labels);
  // One comment, to learn whether a half-closed client is still there.
  net::Task<bool> probe();

  // --- a whole answer, head and body in one go. A small one: append it to what begin_whole()
  // gives, then try_flush() or flush(). Copying one of up to kSmallBody bytes behind its head is
  // cheaper than a gather.
  static constexpr size_t kSmallBody = 16 * 1024;
  std::string& begin_whole(int status);
  // Of any size; `body` must live until the call returns.
  net::Task<bool> whole(std::string_view head, std::string_view body, int status);

 private:
  void put_head_in_front();

  http::ServerConnection& client_;
  std::string& scratch_;
  std::string held_head_;
  std::string pending_;  // composed and not written yet
  Stream* stream_ = nullptr;
  Nanos due_ = net::Deadline::kNever;
  size_t chunk_ = 0;
  int held_status_ = 0;
  int status_ = 0;
  uint32_t heartbeats_ = 0;
  bool relayed_ = false;
  bool ended_ = false;
};

}  // namespace hw::edge
