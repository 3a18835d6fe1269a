// Finds the send stamps of the benchmark's upstream in a streamed answer, wherever reads cut it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw::bench {

// A token as its upstream stamped it; received_ns only on the first of a stream, else 0.
struct StampedToken {
  int64_t sent_ns = 0;
  int64_t received_ns = 0;
};

// In what a client asks and is answered.
enum class Dialect { kChat, kMessages };

class TokenScan {
 public:
  // Begins a stream of that dialect.
  void reset(Dialect dialect);

  // Takes the answer's next payload and calls `sink(StampedToken)` for each token that it ends.
  template <typename Sink>
  void feed(std::string_view payload, Sink&& sink) {
    carried_.append(payload);
    size_t from = 0;
    StampedToken token;
    while (next_token(from, token)) sink(token);
    keep_tail(from);
  }
  // Whether the stream's last event was seen: `[DONE]`, or `message_stop`.
  bool done_seen() const { return done_seen_; }

 private:
  bool next_token(size_t& from, StampedToken& token) const;
  void keep_tail(size_t from);

  Dialect dialect_ = Dialect::kChat;
  std::string carried_;
  bool done_seen_ = false;
};

}  // namespace hw::bench
