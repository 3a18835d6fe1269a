// The upstream of the benchmark: answers chat completions, 1 KB at once or token by token at exact
// times, from one thread. Prints `port N` and serves until its time is up.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <queue>
#include <vector>

#include "base/clock.h"
#include "chat_answers.h"
#include "flags.h"
#include "framing.h"
#include "loopback.h"

namespace hw::bench {
namespace {

constexpr std::string_view kUsage = R"(bench_upstream: a chat-completions upstream on 127.0.0.1
  --port N      0 (the default): the kernel chooses; printed as `port N`
  --seconds N   ends after this time (3600)
  --delay-us N  before an answer that is not streamed (0)
  --tokens N    in a stream that asks for no max_tokens (50)
  --ttft-us N   from the request to the first token (0)
  --gap-us N    between tokens; 0 sends as fast as they are taken (0)
The request fields x-bench-delay-us, x-bench-ttft-us and x-bench-gap-us win.
)";

constexpr size_t kBodyKeptBytesMax = 65536;     // of a request's body, to look into
constexpr size_t kUnsentBytesMax = 262144;      // of a stream, before it waits for its reader
constexpr size_t kPipelinedBytesMax = 1 << 20;  // read ahead of the answer that is under way
constexpr size_t kConnectionsMax = 30000;

// How one answer is paced, nanoseconds.
struct Pace {
  int64_t delay_ns = 0;
  int64_t tokens = 50;
  int64_t ttft_ns = 0;
  int64_t gap_ns = 0;
};

enum class Answering { kNothing, kCompletion, kStream };

struct Connection {
  int fd = -1;
  uint64_t generation = 0;  // counts the sockets that used this slot
  std::string in, out, body;
  bool in_body = false;
  BodyWalk walk;
  Pace pace;
  UsageChunk usage = UsageChunk::kNone;
  Answering answering = Answering::kNothing;
  bool is_post = false;
  bool waits_to_write = false;
  int64_t received_ns = 0;
  int64_t due_ns = 0;
  int64_t tokens_sent = 0;
};

struct Timer {
  int64_t due_ns;
  Connection* connection;
  uint64_t generation;
  bool operator<(const Timer& other) const { return due_ns > other.due_ns; }
};

int64_t number_or(std::string_view text, int64_t fallback) {
  int64_t value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool contains_either(std::string_view text, std::string_view dense, std::string_view spaced) {
  return text.find(dense) != std::string_view::npos || text.find(spaced) != std::string_view::npos;
}

// Gateways pass it on by one of its two names, also those that drop unknown fields.
int64_t tokens_asked_for(std::string_view body, int64_t fallback) {
  for (std::string_view name : {R"("max_tokens":)", R"("max_completion_tokens":)"}) {
    const size_t at = body.find(name);
    if (at == std::string_view::npos) continue;
    std::string_view value = body.substr(at + name.size(), 24);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    return std::max<int64_t>(number_or(value, fallback), 1);
  }
  return fallback;
}

class Upstream {
 public:
  Upstream(int listener, Pace pace) : listener_(listener), pace_(pace) {
    poller_.add(listener, EPOLLIN, nullptr);
  }

  [[noreturn]] void run() {
    while (true) {
      int64_t until = timers_.empty() ? monotonic_ns() + kSecond : timers_.top().due_ns;
      for (epoll_event& event : poller_.wait(until)) {
        auto* connection = static_cast<Connection*>(event.data.ptr);
        if (connection == nullptr) {
          accept_all();
        } else if (connection->fd >= 0) {
          serve(*connection, event.events);
        }
      }
      fire_timers();
    }
  }

 private:
  void accept_all() {
    for (int fd = accept_loopback(listener_); fd >= 0; fd = accept_loopback(listener_)) {
      if (free_.empty() && connections_.size() == kConnectionsMax) {
        close(fd);
        continue;
      }
      if (free_.empty()) {
        connections_.push_back(std::make_unique<Connection>());
        free_.push_back(connections_.back().get());
      }
      Connection* connection = free_.back();
      free_.pop_back();
      uint64_t generation = connection->generation + 1;
      *connection = Connection();
      connection->generation = generation;
      connection->fd = fd;
      poller_.add(fd, EPOLLIN, connection);
    }
  }

  void end(Connection& connection) {
    close(connection.fd);
    connection.fd = -1;
    ++connection.generation;
    free_.push_back(&connection);
  }

  void serve(Connection& connection, uint32_t events) {
    if ((events & EPOLLOUT) != 0 && !flush(connection)) return end(connection);
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    ssize_t got = recv(connection.fd, buffer_, sizeof buffer_, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0 || !take(connection, {buffer_, static_cast<size_t>(got)})) end(connection);
  }

  // Takes request bytes; false when the connection is of no further use.
  bool take(Connection& connection, std::string_view bytes) {
    if (connection.in_body && connection.in.empty()) {
      size_t used = walk_body(connection, bytes);
      bytes.remove_prefix(used);
    }
    if (connection.in.size() + bytes.size() > kPipelinedBytesMax) return false;
    connection.in.append(bytes);
    return answer_requests(connection);
  }

  // Keeps the beginning of the body and drops the rest; gives the number of bytes that were its.
  static size_t walk_body(Connection& connection, std::string_view bytes) {
    return connection.walk.feed(bytes, [&](std::string_view piece) {
      size_t room = kBodyKeptBytesMax - connection.body.size();
      connection.body.append(piece.substr(0, room));
    });
  }

  bool answer_requests(Connection& connection) {
    while (connection.answering == Answering::kNothing) {
      if (!connection.in_body) {
        MessageHead head;
        HeadState state = parse_head(connection.in, head);
        if (state == HeadState::kMalformed) return false;
        if (state == HeadState::kIncomplete) return true;
        begin_request(connection, head);
        connection.in.erase(0, head.size_bytes);
      }
      connection.in.erase(0, walk_body(connection, connection.in));
      if (connection.walk.malformed()) return false;
      if (!connection.walk.done()) return true;
      connection.in_body = false;
      if (!begin_answer(connection)) return false;
    }
    return true;
  }

  void begin_request(Connection& connection, const MessageHead& head) {
    connection.is_post = head.start_line.starts_with("POST ");
    connection.walk.begin(head);
    connection.in_body = true;
    connection.body.clear();
    auto micros = [&](std::string_view name, int64_t fallback_ns) {
      return number_or(field_value(head, name), fallback_ns / kMicrosecond) * kMicrosecond;
    };
    connection.pace.delay_ns = micros("x-bench-delay-us", pace_.delay_ns);
    connection.pace.ttft_ns = micros("x-bench-ttft-us", pace_.ttft_ns);
    connection.pace.gap_ns = micros("x-bench-gap-us", pace_.gap_ns);
  }

  bool begin_answer(Connection& connection) {
    connection.received_ns = monotonic_ns();
    if (!connection.is_post) {
      connection.out += models_answer();
      return flush(connection);
    }
    if (contains_either(connection.body, R"("stream":true)", R"("stream": true)")) {
      return begin_stream(connection);
    }
    if (connection.pace.delay_ns == 0) {
      connection.out += completion_answer();
      return flush(connection);
    }
    connection.answering = Answering::kCompletion;
    schedule(connection, connection.received_ns + connection.pace.delay_ns);
    return true;
  }

  bool begin_stream(Connection& connection) {
    bool asked =
        contains_either(connection.body, R"("include_usage":true)", R"("include_usage": true)");
    connection.usage = asked ? UsageChunk::kAppended : UsageChunk::kNone;
    connection.pace.tokens = tokens_asked_for(connection.body, pace_.tokens);
    connection.answering = Answering::kStream;
    connection.tokens_sent = 0;
    connection.out += stream_head();
    schedule(connection, connection.received_ns + connection.pace.ttft_ns);
    return flush(connection);
  }

  void schedule(Connection& connection, int64_t due_ns) {
    connection.due_ns = due_ns;
    timers_.push({due_ns, &connection, connection.generation});
  }

  void fire_timers() {
    int64_t now = monotonic_ns();
    while (!timers_.empty() && timers_.top().due_ns <= now) {
      Timer timer = timers_.top();
      timers_.pop();
      Connection& connection = *timer.connection;
      if (timer.generation == connection.generation && !advance(connection)) end(connection);
    }
  }

  // The next step of a paced answer; false when the connection is of no further use.
  bool advance(Connection& connection) {
    if (connection.answering == Answering::kCompletion) {
      connection.out += completion_answer();
      return finish_answer(connection);
    }
    if (connection.out.size() < kUnsentBytesMax &&
        connection.tokens_sent < connection.pace.tokens) {
      send_token(connection);
    }
    if (connection.tokens_sent == connection.pace.tokens) {
      append_stream_end(connection.out, connection.usage, connection.tokens_sent);
      return finish_answer(connection);
    }
    if (!flush(connection)) return false;
    schedule(connection, next_token_ns(connection));
    return true;
  }

  // A burst gives way to the other connections between two tokens, and waits while its reader does
  // not take them.
  static int64_t next_token_ns(const Connection& connection) {
    if (connection.pace.gap_ns > 0) return connection.due_ns + connection.pace.gap_ns;
    return monotonic_ns() + (connection.waits_to_write ? kMillisecond : 1);
  }

  static void send_token(Connection& connection) {
    if (connection.tokens_sent++ == 0) {
      append_first_token(connection.out, monotonic_ns(), connection.received_ns);
    } else {
      append_token(connection.out, monotonic_ns());
    }
  }

  bool finish_answer(Connection& connection) {
    connection.answering = Answering::kNothing;
    return flush(connection) && answer_requests(connection);
  }

  // Writes what is unsent as far as it goes; false when the peer is gone.
  bool flush(Connection& connection) {
    size_t sent = 0;
    while (sent < connection.out.size()) {
      ssize_t wrote = send(connection.fd, connection.out.data() + sent,
                           connection.out.size() - sent, MSG_NOSIGNAL);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0 && errno != EAGAIN) return false;
      if (wrote < 0) break;
      sent += static_cast<size_t>(wrote);
    }
    connection.out.erase(0, sent);
    bool waits = !connection.out.empty();
    if (waits != connection.waits_to_write) {
      connection.waits_to_write = waits;
      poller_.change(connection.fd, waits ? EPOLLIN | EPOLLOUT : EPOLLIN, &connection);
    }
    return true;
  }

  int listener_;
  Pace pace_;
  Poller poller_;
  std::priority_queue<Timer> timers_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> free_;
  char buffer_[65536];
};

}  // namespace
}  // namespace hw::bench

int main(int argc, char** argv) {
  using namespace hw::bench;
  Flags flags(argc, argv, kUsage);
  bound_lifetime(static_cast<unsigned>(flags.number("seconds", 3600)));
  Pace pace;
  pace.delay_ns = flags.number("delay-us", 0) * hw::kMicrosecond;
  pace.tokens = flags.number("tokens", 50);
  pace.ttft_ns = flags.number("ttft-us", 0) * hw::kMicrosecond;
  pace.gap_ns = flags.number("gap-us", 0) * hw::kMicrosecond;
  int listener = listen_loopback(static_cast<int>(flags.number("port", 0)));
  printf("port %d\n", port_of(listener));
  fflush(stdout);
  std::make_unique<Upstream>(listener, pace)->run();
}
