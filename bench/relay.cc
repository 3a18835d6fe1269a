// A bare TCP relay: one read, one write, each way, nothing looked at. What a gateway adds over this
// on the same core is its own doing, not the machine's (bench/overhead). At SIGTERM it prints what
// it took itself, from a read's return to the write's, by the median of each way.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "flags.h"
#include "loopback.h"
#include "samples.h"

namespace hw::bench {
namespace {

constexpr std::string_view kUsage = R"(bench_relay: a TCP relay from 127.0.0.1 to 127.0.0.1
  --port N      0 (the default): the kernel chooses; printed as `port N`
  --to N        the upstream's port
  --seconds N   ends after this time (3600)
)";

constexpr int kPairsMax = 1024;

// One direction's source; `other` is where its bytes go. A pair owns both of its ends.
struct End {
  int fd = -1;
  End* other = nullptr;
  Samples* taken = nullptr;  // where the time of its direction is counted
};

volatile sig_atomic_t asked_to_end = 0;

struct Pair {
  End client, upstream;
};

class Relay {
 public:
  Relay(int listener, int upstream_port) : listener_(listener), upstream_port_(upstream_port) {
    poller_.add(listener, EPOLLIN, nullptr);
  }

  void run() {
    while (asked_to_end == 0) {
      for (epoll_event& event : poller_.wait(monotonic_ns() + kSecond)) {
        auto* end = static_cast<End*>(event.data.ptr);
        if (end == nullptr) {
          accept_one();
        } else if (end->fd >= 0) {
          carry(*end);
        }
      }
    }
    printf("there_us %.1f back_us %.1f\n", there_.quantile_us(0.5), back_.quantile_us(0.5));
  }

 private:
  void accept_one() {
    int client = accept_loopback(listener_);
    if (client < 0) return;
    int upstream = pairs_ < kPairsMax ? connect_loopback(upstream_port_) : -1;
    if (upstream < 0) {
      close(client);
      return;
    }
    // Pairs live as long as the program: an event of the same batch may still point to one.
    Pair* pair = storage_[pairs_++] = new Pair();
    pair->client = {client, &pair->upstream, &there_};
    pair->upstream = {upstream, &pair->client, &back_};
    poller_.add(client, EPOLLIN, &pair->client);
    poller_.add(upstream, EPOLLIN, &pair->upstream);
  }

  void carry(End& from) {
    ssize_t got = recv(from.fd, buffer_, sizeof buffer_, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    int64_t read_ns = monotonic_ns();
    if (got <= 0 || !write_all(from.other->fd, static_cast<size_t>(got))) {
      close(from.fd);
      close(from.other->fd);
      from.fd = from.other->fd = -1;
      return;
    }
    from.taken->add(monotonic_ns() - read_ns);
  }

  // What fits in no socket buffer waits here: the relay serves small answers, one at a time.
  bool write_all(int fd, size_t size) {
    size_t sent = 0;
    while (sent < size) {
      ssize_t wrote = send(fd, buffer_ + sent, size - sent, MSG_NOSIGNAL);
      if (wrote < 0 && errno != EAGAIN && errno != EINTR) return false;
      if (wrote > 0) sent += static_cast<size_t>(wrote);
    }
    return true;
  }

  int listener_;
  int upstream_port_;
  Poller poller_;
  Pair* storage_[kPairsMax] = {};
  int pairs_ = 0;
  Samples there_, back_;
  char buffer_[65536];
};

}  // namespace
}  // namespace hw::bench

int main(int argc, char** argv) {
  using namespace hw::bench;
  Flags flags(argc, argv, kUsage);
  bound_lifetime(static_cast<unsigned>(flags.number("seconds", 3600)));
  signal(SIGTERM, [](int) { asked_to_end = 1; });
  int listener = listen_loopback(static_cast<int>(flags.number("port", 0)));
  printf("port %d\n", port_of(listener));
  fflush(stdout);
  std::make_unique<Relay>(listener, static_cast<int>(flags.number("to", 0)))->run();
}
