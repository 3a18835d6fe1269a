// The load generator of the benchmark: chat completions or messages over keep-alive connections
// from one thread, in a closed loop, at a fixed rate or as streams. Prints one JSON object.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "flags.h"
#include "framing.h"
#include "loopback.h"
#include "samples.h"
#include "token_scan.h"

namespace hw::bench {
namespace {

constexpr std::string_view kUsage = R"(bench_loadgen: chat completions or messages to 127.0.0.1
  --port N           where to
  --dialect TEXT     chat (the default) or messages
  --path TEXT        the dialect's own, /v1/chat/completions or /v1/messages
  --key TEXT         sent as Authorization: Bearer
  --model TEXT       bench
  --fields TEXT      more request fields, `a: b|c: d`
  --connections N    1
  --seconds N        ends after this time (1; at most 600)
  --requests N       asks so often and ends with the last answer, slow readers not counted;
                     0 (the default): goes on until the time is up
  --rate N           requests a second, latency from the scheduled time;
                     0 (the default): closed loop
  --body-bytes N     of each request, about (1200)
  --turns N          over which its text is spread, user and assistant in turn (1)
  --stream N         1: ask for streams (0)
  --tokens N         of each stream, asked of the upstream as max_tokens (50)
  --ttft-us N        asked of it in a field of its own (0)
  --gap-us N         likewise (0)
  --ramp-ms N        spreads the connections' first requests over this time (0)
  --slow N           so many of the connections read slowly and are not counted in the quantiles (0)
  --slow-bytes N     of a slow reader in a second (256)
)";

constexpr int64_t kSecondsMax = 600;
constexpr int64_t kConnectionsMax = 20000;
constexpr int kSlowBufferBytes = 4096;                 // a slow reader's receive buffer
constexpr int64_t kSlowPeriodNs = 100 * kMillisecond;  // between its reads

struct Load {
  int port = 0;
  int64_t connections = 1;
  int64_t duration_ns = kSecond;
  int64_t requests_max = 0;
  double rate = 0;
  bool streams = false;
  int64_t tokens = 50;
  int64_t ramp_ns = 0;
  int64_t slow = 0;
  int64_t slow_bytes = 256;
  Dialect dialect = Dialect::kChat;
  std::string request;
};

struct Connection {
  int fd = -1;
  bool slow = false;
  bool busy = false;
  bool head_read = false;
  int status = 0;
  size_t unsent_from = 0;
  int64_t started_ns = 0;  // the send, or the scheduled time at a fixed rate
  int64_t tokens = 0;
  StampedToken last;
  int64_t last_read_ns = 0;
  std::string head_bytes;
  BodyWalk walk;
  TokenScan scan;
};

struct Errors {
  uint64_t connect = 0, closed = 0, malformed = 0, status = 0, cut_short = 0;
  int first_status = 0;
  std::string first_answer;
};

struct Findings {
  Samples latency;    // send to last byte
  Samples ttft;       // send to first token
  Samples carried;    // the same without what the upstream waited: both ways through the gateway
  Samples transit;    // a token's way from the upstream's send to here
  Samples stretched;  // by how much a gap between tokens grew on the way
  uint64_t requests = 0, tokens = 0, slow_tokens = 0;
  Errors errors;
};

class LoadGenerator {
 public:
  explicit LoadGenerator(const Load& load) : load_(load) {}

  // Runs the load; false when the first connections cannot be made.
  bool run() {
    for (int64_t i = 0; i < load_.connections; ++i) {
      connections_.push_back(std::make_unique<Connection>());
      connections_.back()->slow = i < load_.slow;
      if (!open(*connections_.back())) return false;
      waiting_.push_back(connections_.back().get());
    }
    begun_ns_ = monotonic_ns();
    int64_t end_ns = begun_ns_ + load_.duration_ns;
    while (monotonic_ns() < end_ns && !enough()) {
      int64_t next_ns = std::min(start_due_requests(), end_ns);
      next_ns = std::min(next_ns, read_slow_ones());
      for (epoll_event& event : poller_.wait(next_ns)) {
        serve(*static_cast<Connection*>(event.data.ptr), event.events);
      }
    }
    ended_ns_ = monotonic_ns();
    return true;
  }

  void print();

 private:
  bool enough() const {
    return load_.requests_max > 0 && found_.requests >= static_cast<uint64_t>(load_.requests_max);
  }

  static uint32_t reading_events(const Connection& connection) {
    return connection.slow ? 0u : uint32_t{EPOLLIN};
  }

  bool open(Connection& connection) {
    connection.fd = connect_loopback(load_.port);
    if (connection.fd < 0) return false;
    if (connection.slow) {
      setsockopt(connection.fd, SOL_SOCKET, SO_RCVBUF, &kSlowBufferBytes, sizeof kSlowBufferBytes);
    }
    poller_.add(connection.fd, reading_events(connection), &connection);
    return true;
  }

  bool all_started() const {
    return load_.requests_max > 0 &&
           started_ >= static_cast<uint64_t>(load_.requests_max + load_.slow);
  }

  // Starts what is due; gives the time of the next start.
  int64_t start_due_requests() {
    int64_t now = monotonic_ns();
    while (!waiting_.empty() && !all_started()) {
      int64_t due = next_start_ns();
      if (due > now) return due;
      Connection* connection = waiting_.front();
      waiting_.pop_front();
      ++started_;
      start(*connection, load_.rate > 0 ? due : now);
    }
    return now + kSecond;
  }

  int64_t next_start_ns() const {
    if (load_.rate > 0) {
      return begun_ns_ + static_cast<int64_t>(static_cast<double>(started_) * 1e9 / load_.rate);
    }
    auto first_time = static_cast<int64_t>(started_);
    if (first_time >= load_.connections) return 0;
    return begun_ns_ + load_.ramp_ns * first_time / load_.connections;
  }

  void start(Connection& connection, int64_t started_ns) {
    connection.busy = true;
    connection.head_read = false;
    connection.status = 0;
    connection.unsent_from = 0;
    connection.started_ns = started_ns;
    connection.tokens = 0;
    connection.last = {};
    connection.head_bytes.clear();
    connection.scan.reset(load_.dialect);
    send_more(connection);
  }

  void send_more(Connection& connection) {
    const std::string& request = load_.request;
    while (connection.unsent_from < request.size()) {
      ssize_t wrote = send(connection.fd, request.data() + connection.unsent_from,
                           request.size() - connection.unsent_from, MSG_NOSIGNAL);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0 && errno == EAGAIN) {
        return poller_.change(connection.fd, reading_events(connection) | EPOLLOUT, &connection);
      }
      if (wrote < 0) return;  // the read tells
      connection.unsent_from += static_cast<size_t>(wrote);
    }
  }

  void serve(Connection& connection, uint32_t events) {
    if ((events & EPOLLOUT) != 0) {
      poller_.change(connection.fd, reading_events(connection), &connection);
      send_more(connection);
    }
    bool hung_up = (events & (EPOLLHUP | EPOLLERR)) != 0;  // these two come unasked
    if (connection.slow && hung_up) return fail(connection, found_.errors.closed);
    if ((events & EPOLLIN) != 0 || hung_up) read_some(connection, sizeof buffer_);
  }

  // Lets the slow readers read when it is time; gives the time of the next turn.
  int64_t read_slow_ones() {
    int64_t now = monotonic_ns();
    if (load_.slow == 0) return now + kSecond;
    if (now < slow_turn_ns_) return slow_turn_ns_;
    auto share = static_cast<size_t>(load_.slow_bytes * kSlowPeriodNs / kSecond);
    for (int64_t i = 0; i < load_.slow; ++i) {
      if (connections_[i]->busy) read_some(*connections_[i], std::max<size_t>(share, 1));
    }
    return slow_turn_ns_ = now + kSlowPeriodNs;
  }

  void read_some(Connection& connection, size_t bytes_max) {
    ssize_t got = recv(connection.fd, buffer_, std::min(bytes_max, sizeof buffer_), MSG_DONTWAIT);
    int64_t now = monotonic_ns();
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return fail(connection, found_.errors.closed);
    take(connection, {buffer_, static_cast<size_t>(got)}, now);
  }

  void take(Connection& connection, std::string_view bytes, int64_t now) {
    if (!connection.head_read) {
      connection.head_bytes.append(bytes);
      MessageHead head;
      HeadState state = parse_head(connection.head_bytes, head);
      if (state == HeadState::kMalformed) return fail(connection, found_.errors.malformed);
      if (state == HeadState::kIncomplete) return;
      connection.head_read = true;
      connection.status = status_of(head);
      connection.walk.begin(head);
      if (connection.status != 200) note_status(connection);
      bytes = bytes.substr(bytes.size() - (connection.head_bytes.size() - head.size_bytes));
    }
    connection.walk.feed(bytes, [&](std::string_view piece) {
      if (load_.streams) take_payload(connection, piece, now);
    });
    if (connection.walk.malformed()) return fail(connection, found_.errors.malformed);
    if (connection.walk.done()) finish(connection, now);
  }

  void note_status(const Connection& connection) {
    if (found_.errors.first_status == 0) {
      found_.errors.first_status = connection.status;
      found_.errors.first_answer = connection.head_bytes.substr(0, 1500);
    }
  }

  void take_payload(Connection& connection, std::string_view payload, int64_t now) {
    connection.scan.feed(payload, [&](StampedToken token) {
      ++connection.tokens;
      if (connection.slow) {
        ++found_.slow_tokens;
        return;
      }
      ++found_.tokens;
      found_.transit.add(now - token.sent_ns);
      if (connection.tokens == 1) {
        found_.ttft.add(now - connection.started_ns);
        int64_t waited = token.sent_ns - token.received_ns;
        found_.carried.add(now - connection.started_ns - waited);
      } else {
        found_.stretched.add((now - connection.last_read_ns) -
                             (token.sent_ns - connection.last.sent_ns));
      }
      connection.last = token;
      connection.last_read_ns = now;
    });
  }

  void finish(Connection& connection, int64_t now) {
    bool whole =
        !load_.streams || (connection.scan.done_seen() && connection.tokens == load_.tokens);
    if (connection.status != 200) {
      ++found_.errors.status;
    } else if (!whole) {
      ++found_.errors.cut_short;
    }
    if (!connection.slow) {
      ++found_.requests;
      found_.latency.add(now - connection.started_ns);
    }
    connection.busy = false;
    waiting_.push_back(&connection);
  }

  // Counts an answer that broke and begins anew on a fresh connection.
  void fail(Connection& connection, uint64_t& counter) {
    if (connection.busy) ++counter;
    close(connection.fd);
    bool was_busy = connection.busy;
    connection.busy = false;
    if (!open(connection)) {
      ++found_.errors.connect;
      return;
    }
    if (was_busy) waiting_.push_back(&connection);
  }

  Load load_;
  Poller poller_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<Connection*> waiting_;  // idle connections, the longest idle one first
  Findings found_;
  uint64_t started_ = 0;
  int64_t begun_ns_ = 0, ended_ns_ = 0, slow_turn_ns_ = 0;
  char buffer_[262144];
};

void print_quantiles(const char* name, Samples& samples) {
  printf(
      ",\"%s_us\":{\"count\":%llu,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%."
      "1f}",
      name, static_cast<unsigned long long>(samples.count()), samples.quantile_us(0.5),
      samples.quantile_us(0.9), samples.quantile_us(0.99), samples.quantile_us(0.999),
      samples.quantile_us(1));
}

void LoadGenerator::print() {
  double seconds = static_cast<double>(ended_ns_ - begun_ns_) / 1e9;
  const Errors& errors = found_.errors;
  if (errors.first_status != 0) {
    fprintf(stderr, "first answer that was not 200: %s\n", errors.first_answer.c_str());
  }
  auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  printf(
      "{\"seconds\":%.3f,\"requests\":%llu,\"requests_per_s\":%.1f,\"tokens\":%llu,"
      "\"tokens_per_s\":%.1f,\"slow_tokens\":%llu",
      seconds, number(found_.requests), static_cast<double>(found_.requests) / seconds,
      number(found_.tokens), static_cast<double>(found_.tokens) / seconds,
      number(found_.slow_tokens));
  print_quantiles("latency", found_.latency);
  print_quantiles("ttft", found_.ttft);
  print_quantiles("carried", found_.carried);
  print_quantiles("transit", found_.transit);
  print_quantiles("stretched", found_.stretched);
  printf(
      ",\"errors\":{\"connect\":%llu,\"closed\":%llu,\"malformed\":%llu,\"status\":%llu,"
      "\"cut_short\":%llu,\"first_status\":%d}}\n",
      number(errors.connect), number(errors.closed), number(errors.malformed),
      number(errors.status), number(errors.cut_short), errors.first_status);
}

std::string more_fields(std::string text) {
  std::string fields;
  while (!text.empty()) {
    size_t end = std::min(text.find('|'), text.size());
    fields += text.substr(0, end) + "\r\n";
    text.erase(0, end + 1);
  }
  return fields;
}

// The conversation of a request's body: `turns` messages of together about `bytes_max` with what
// `body` has already.
void append_turns(std::string& body, int64_t turns, size_t bytes_max) {
  const size_t begun = body.size();
  for (int64_t turn = 0; turn < turns; ++turn) {
    if (turn > 0) body += "\"},";
    body += turn % 2 == 0 ? R"({"role":"user","content":")" : R"({"role":"assistant","content":")";
    const size_t until = begun + (bytes_max - std::min(begun, bytes_max)) *
                                     static_cast<size_t>(turn + 1) / static_cast<size_t>(turns);
    while (body.size() < until) body += "Explain the quick brown fox. ";
  }
  body += "\"}";
}

std::string make_body(const Flags& flags, Dialect dialect, bool streams) {
  constexpr std::string_view kSystem = "\"You are a helpful assistant.\"";
  std::string body =
      "{\"model\":\"" + flags.text("model", "bench") +
      "\",\"stream\":" + (streams ? "true" : "false") +
      ",\"temperature\":0.7,\"max_tokens\":" + std::to_string(flags.number("tokens", 50));
  switch (dialect) {
    case Dialect::kChat:
      body.append(R"(,"messages":[{"role":"system","content":)").append(kSystem).append("},");
      break;
    case Dialect::kMessages:
      body.append(R"(,"system":)").append(kSystem).append(R"(,"messages":[)");
      break;
  }
  append_turns(body, std::max<int64_t>(flags.number("turns", 1), 1),
               static_cast<size_t>(flags.number("body-bytes", 1200)));
  return body + "]}";
}

// The fields that the dialect's own SDK sends.
std::string_view sdk_fields(Dialect dialect) {
  switch (dialect) {
    case Dialect::kChat:
      return "User-Agent: OpenAI/Python 1.40.0\r\n";
    case Dialect::kMessages:
      return "User-Agent: Anthropic/Python 0.40.0\r\nanthropic-version: 2023-06-01\r\n";
  }
  return {};
}

std::string_view path_of(Dialect dialect) {
  return dialect == Dialect::kChat ? "/v1/chat/completions" : "/v1/messages";
}

// A request as an SDK sends it: a dozen fields and a body of about `--body-bytes`.
std::string make_request(const Flags& flags, Dialect dialect, bool streams) {
  const std::string body = make_body(flags, dialect, streams);
  std::string pace;
  if (streams) {
    pace = "x-bench-ttft-us: " + std::to_string(flags.number("ttft-us", 0)) +
           "\r\nx-bench-gap-us: " + std::to_string(flags.number("gap-us", 0)) + "\r\n";
  }
  return "POST " + flags.text("path", std::string(path_of(dialect))) +
         " HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer " +
         flags.text("key", "sk-none") +
         "\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
         std::string(sdk_fields(dialect)) +
         "x-stainless-lang: python\r\n"
         "x-stainless-package-version: 1.40.0\r\nx-stainless-os: Linux\r\n"
         "x-stainless-arch: x64\r\nx-stainless-runtime: CPython\r\n" +
         pace + more_fields(flags.text("fields", "")) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

Dialect read_dialect(const Flags& flags) {
  const std::string name = flags.text("dialect", "chat");
  if (name == "chat") return Dialect::kChat;
  if (name == "messages") return Dialect::kMessages;
  fprintf(stderr, "--dialect %s: known are chat, messages\n", name.c_str());
  exit(2);
}

Load read_load(const Flags& flags) {
  Load load;
  load.port = static_cast<int>(flags.number("port", 0));
  load.connections = std::clamp<int64_t>(flags.number("connections", 1), 1, kConnectionsMax);
  double seconds = std::min<double>(flags.real("seconds", 1), kSecondsMax);
  load.duration_ns = static_cast<int64_t>(seconds * 1e9);
  load.requests_max = flags.number("requests", 0);
  load.rate = flags.real("rate", 0);
  load.streams = flags.number("stream", 0) != 0;
  load.tokens = flags.number("tokens", 50);
  load.ramp_ns = flags.number("ramp-ms", 0) * kMillisecond;
  load.slow = std::min(flags.number("slow", 0), load.connections);
  load.slow_bytes = flags.number("slow-bytes", 256);
  load.dialect = read_dialect(flags);
  load.request = make_request(flags, load.dialect, load.streams);
  return load;
}

}  // namespace
}  // namespace hw::bench

int main(int argc, char** argv) {
  using namespace hw::bench;
  Flags flags(argc, argv, kUsage);
  bound_lifetime(static_cast<unsigned>(kSecondsMax) + 60);
  auto generator = std::make_unique<LoadGenerator>(read_load(flags));
  if (!generator->run()) {
    fprintf(stderr, "cannot connect\n");
    return 3;
  }
  generator->print();
}
