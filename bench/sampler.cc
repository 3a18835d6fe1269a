// What the sampler costs: its own client and load against bench_upstream, which it starts. Prints a
// table, then one line of JSON. Beside the streams a bare epoll-and-recv loop reads the same ones.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

#include "base/text.h"
#include "flags.h"
#include "loopback.h"
#include "sampler/load.h"

namespace hw::bench {
namespace {

constexpr std::string_view kUsage = R"(bench_sampler: what the sampler itself costs
  --upstream FILE  the program bench_upstream
  --requests N     answers in one piece (40000)
  --streams N      held open together (2000)
  --rate N         requests a second of the open loop (5000)
)";

int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

int64_t resident_bytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// bench_upstream as a child; its port is on its first line.
class Upstream {
 public:
  explicit Upstream(const std::string& program) {
    int out[2];
    if (::pipe(out) != 0) std::exit(1);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      ::dup2(out[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), "--seconds", "300", nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    std::FILE* lines = ::fdopen(out[0], "r");
    if (lines == nullptr || std::fscanf(lines, "port %d", &port_) != 1) std::exit(1);
  }
  ~Upstream() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  int port() const { return port_; }

 private:
  pid_t child_ = 0;
  int port_ = 0;
};

// Sends a stream of `events` tokens at once to each request, so that a read brings hundreds.
class Torrent {
 public:
  explicit Torrent(int events) : listener_(listen_loopback(0)), port_(port_of(listener_)) {
    child_ = ::fork();
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    serve(events);
  }
  ~Torrent() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
    ::close(listener_);
  }
  Torrent(const Torrent&) = delete;
  Torrent& operator=(const Torrent&) = delete;
  int port() const { return port_; }

 private:
  static std::string answer_of(int events) {
    std::string body;
    for (int i = 0; i < events; ++i) {
      body += concat(R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[)",
                     R"({"index":0,"delta":{"content":" word)", i % 10, "\"}}]}\n\n");
    }
    body +=
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        "data: [DONE]\n\n";
    return concat("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ",
                  body.size(), "\r\n\r\n", body);
  }
  [[noreturn]] void serve(int events) const {
    const std::string answer = answer_of(events);
    char request[65536];
    int fd = -1;
    for (;;) {
      if (fd < 0) fd = accept_loopback(listener_);
      if (fd < 0) {
        ::usleep(1000);
        continue;
      }
      ::fcntl(fd, F_SETFL, 0);  // this child may wait
      if (::read(fd, request, sizeof request) <= 0) {
        ::close(fd);
        fd = -1;
        continue;
      }
      for (size_t sent = 0; sent < answer.size();) {
        const ssize_t put = ::write(fd, answer.data() + sent, answer.size() - sent);
        if (put <= 0) break;
        sent += static_cast<size_t>(put);
      }
    }
  }

  int listener_, port_;
  pid_t child_ = 0;
};

class ShortPrompt final : public sampler::PromptSource {
 public:
  explicit ShortPrompt(int tokens) : tokens_(tokens) {}
  sampler::Prompt next() override {
    return {"short", "What is the difference between a queue and a stack?", tokens_};
  }
  std::string mix() const override { return "short=1"; }
  std::string digest() const override { return ""; }

 private:
  const int tokens_;
};

// How the upstream paces an answer, by headers of its own.
struct Pace {
  int64_t ttft_us = 0, gap_us = 0;
  int tokens = 1;
};

sampler::Target target_of(int port, const Pace& pace) {
  sampler::TargetSettings settings;
  settings.base_url = concat("http://127.0.0.1:", port, "/v1");
  settings.model = "bench";
  settings.headers = {{"x-bench-ttft-us", std::to_string(pace.ttft_us)},
                      {"x-bench-gap-us", std::to_string(pace.gap_us)}};
  auto target = sampler::Target::make(settings, {});
  if (!target.has_value()) std::exit(1);
  return std::move(*target);
}

// One measured load.
struct Cost {
  int64_t cpu_ns = 0;
  size_t requests = 0, events = 0, failed = 0;
  double lag_p99_us = 0;
  int64_t grown_bytes = 0;  // of resident memory, at the height of the load
  double per_cpu_s(size_t count) const {
    return static_cast<double>(count) * 1e9 / static_cast<double>(cpu_ns);
  }
};

Cost measure(int port, const Pace& pace, const sampler::LoadPlan& plan) {
  const sampler::Target target = target_of(port, pace);
  ShortPrompt prompts(pace.tokens);
  net::Loop loop(0);
  auto client = sampler::Client::make(loop, target, {}, "");
  if (!client.has_value()) std::exit(1);
  Cost cost;
  const int64_t before_bytes = resident_bytes();
  sampler::Load load(loop, **client, target, prompts, plan, [&cost](sampler::Job& job) {
    const bool ok = job.record.outcome == runs::RequestOutcome::kOk;
    if (job.record.phase == runs::Phase::kSteady && !ok) ++cost.failed;
    ++cost.requests;
    cost.events += job.record.tokens.size();
    if (cost.grown_bytes == 0) cost.grown_bytes = resident_bytes();
  });
  auto run = [](net::Loop& on, sampler::Load& what) -> net::Task<void> {
    co_await what.run();
    on.stop();
  };
  loop.spawn(run(loop, load));
  const int64_t begun = thread_cpu_ns();
  loop.run();
  cost.cpu_ns = thread_cpu_ns() - begun;
  cost.grown_bytes -= before_bytes;
  cost.lag_p99_us = static_cast<double>(load.pace().lag.quantile(0.99)) / 1e3;
  return cost;
}

// Reads the same streams and does nothing with them but count the reads.
double bare_reads_per_cpu_s(int port, const Pace& pace, int streams) {
  const sampler::Target target = target_of(port, pace);
  ShortPrompt prompts(pace.tokens);
  const std::string request = target.compose(prompts.next(), sampler::Delivery::kStreamed);
  auto poller = std::make_unique<Poller>();
  std::vector<int> sockets;
  for (int i = 0; i < streams; ++i) {
    const int fd = connect_loopback(port);
    if (fd < 0 || ::write(fd, request.data(), request.size()) < 0) std::exit(1);
    sockets.push_back(fd);
  }
  for (int& fd : sockets) poller->add(fd, EPOLLIN, &fd);
  static char block[65536];
  size_t reads = 0, open = sockets.size();
  const int64_t begun = thread_cpu_ns();
  while (open > 0) {
    for (epoll_event& event : poller->wait(monotonic_ns() + kSecond)) {
      int& fd = *static_cast<int*>(event.data.ptr);
      if (fd < 0) continue;
      const ssize_t got = ::recv(fd, block, sizeof block, 0);
      ++reads;
      const bool last =
          got > 4 && std::string_view(block, static_cast<size_t>(got)).ends_with("0\r\n\r\n");
      if (got > 0 && !last) continue;
      ::close(fd);
      fd = -1;
      --open;
    }
  }
  return static_cast<double>(reads) * 1e9 / static_cast<double>(thread_cpu_ns() - begun);
}

sampler::LoadPlan closed(size_t requests, size_t concurrency, sampler::Delivery delivery) {
  sampler::LoadPlan plan;
  plan.requests = requests;
  plan.concurrency = concurrency;
  plan.delivery = delivery;
  return plan;
}

sampler::LoadPlan open(double rate, size_t requests) {
  sampler::LoadPlan plan = closed(requests, 0, sampler::Delivery::kWhole);
  plan.arrivals.emplace();
  plan.arrivals->rate = rate;
  plan.arrivals->seed = 42;
  return plan;
}

int main_of(const Flags& flags) {
  using sampler::Delivery;
  bound_lifetime(200);
  const Upstream upstream(flags.text("upstream", ""));
  const int port = upstream.port();
  const auto requests = static_cast<size_t>(flags.number("requests", 40'000));
  const auto streams = static_cast<size_t>(flags.number("streams", 2'000));
  const double rate = flags.real("rate", 5'000);
  constexpr int kPaced = 200, kTorrentEvents = 10'000;
  const Pace paced{0, 5'000, 200}, held{2'000'000, 0, 4};

  const Cost whole = measure(port, {}, closed(requests, 32, Delivery::kWhole));
  const Cost one = measure(port, paced, closed(kPaced, kPaced, Delivery::kStreamed));
  const double bare = bare_reads_per_cpu_s(port, paced, kPaced);
  const Torrent torrent(kTorrentEvents);
  const Cost many = measure(torrent.port(), {}, closed(100, 1, Delivery::kStreamed));
  const Cost height = measure(port, held, closed(streams, streams, Delivery::kStreamed));
  const Cost lag = measure(port, {}, open(rate, static_cast<size_t>(rate * 3)));

  const size_t failed = whole.failed + one.failed + many.failed + height.failed + lag.failed;
  const double stream_kib = static_cast<double>(height.grown_bytes) / 1024 /
                            static_cast<double>(std::max<size_t>(streams, 1));
  std::printf("answers in one piece a CPU second    %10.0f\n", whole.per_cpu_s(whole.requests));
  std::printf("events a CPU second, one a read      %10.0f\n", one.per_cpu_s(one.events));
  std::printf("reads a CPU second, bare recv loop   %10.0f\n", bare);
  std::printf("events a CPU second, coalesced       %10.0f\n", many.per_cpu_s(many.events));
  std::printf("KiB an open stream (%zu of them)   %10.1f\n", streams, stream_kib);
  std::printf("schedule lag P99 us at %.0f/s        %10.1f\n", rate, lag.lag_p99_us);
  std::printf("failed requests                      %10zu\n", failed);
  std::printf(
      "{\"requests_per_cpu_s\": %.0f, \"events_per_cpu_s\": %.0f, "
      "\"bare_reads_per_cpu_s\": %.0f, \"events_ratio_bare\": %.3f, "
      "\"events_per_cpu_s_coalesced\": %.0f, \"streams\": %zu, \"stream_kib\": %.1f, "
      "\"lag_p99_us\": %.1f, \"failed\": %zu}\n",
      whole.per_cpu_s(whole.requests), one.per_cpu_s(one.events), bare,
      one.per_cpu_s(one.events) / bare, many.per_cpu_s(many.events), streams, stream_kib,
      lag.lag_p99_us, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hw::bench

int main(int argc, char** argv) {
  return hw::bench::main_of(hw::bench::Flags(argc, argv, hw::bench::kUsage));
}
