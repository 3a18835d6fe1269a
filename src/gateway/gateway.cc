#include "gateway/gateway.h"

#include <thread>

#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "gateway/loop_gateway.h"
#include "net/listener.h"
#include "net/timers.h"

namespace hw::gateway {
namespace {

// An accepted connection is handed to another loop when that one has this many fewer.
constexpr int kImbalance = 4;
// How often a loop that drains looks whether its connections are gone.
constexpr Nanos kDrainTick = 20 * kMillisecond;
// What clients have, once drain_s is over, to take what they are told of it.
constexpr Nanos kTellTime = kSecond;

// A control block of its own for each loop, so that exchanges on different cores do not share a
// reference count.
std::shared_ptr<const Snapshot> copy_for_loop(const std::shared_ptr<const Snapshot>& shared) {
  return std::shared_ptr<const Snapshot>(shared.get(), [shared](const Snapshot*) {});
}

}  // namespace

int loop_count(const Options& options) {
  if (options.threads > 0) return options.threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

struct Gateway::Impl {
  // One loop with all that is its own. Ends in the reverse order.
  struct Part {
    Impl& all;
    net::Loop loop;
    std::shared_ptr<net::TlsContext> tls;
    std::unique_ptr<LoopGateway> gateway;
    std::unique_ptr<net::Listener> listener;
    std::unique_ptr<net::Deadline> drain;
    std::thread thread;
    Part(Impl& a, int index) : all(a), loop(index) {}
  };
  struct DrainTick final : net::Deadline {
    Part& part;
    Nanos give_up_at;
    bool told = false;
    DrainTick(Part& p, Nanos at) : Deadline(p.loop.timers()), part(p), give_up_at(at) {}
    void on_deadline() override { part.all.drain_further(part, *this); }
  };

  Parts parts;
  Common common;
  std::shared_ptr<const Snapshot> settings;
  std::vector<std::unique_ptr<Part>> loops;
  BlockingThreads blocking;  // behind the loops: what still runs tells its loop
  const Counter turned_away =
      metrics().counter("headway_connections_refused_total",
                        "Client connections above connections_max, which were turned away.");
  std::atomic<bool> stopping{false};

  Status open(const Snapshot& given) {
    const int count = loop_count(given.options);
    auto snapshot = std::make_shared<Snapshot>(given);
    snapshot->server = server_options(given.options);
    settings = snapshot;
    secured = !given.options.tls.certificate.empty();
    uint16_t port = given.options.listen_port;
    const Status free = net::Listener::check_free(given.options.listen_host, port);
    if (!free) return fail(free.error());
    for (int i = 0; i < count; ++i) {
      auto part = std::make_unique<Part>(*this, i);
      if (secured) {
        auto tls = net::TlsContext::server(given.options.tls.certificate, given.options.tls.key);
        if (!tls) return fail(tls.error());
        part->tls = std::move(*tls);
      }
      part->gateway = std::make_unique<LoopGateway>(part->loop, common, blocking, parts, metrics(),
                                                    copy_for_loop(settings), part->tls.get());
      Part& self = *part;
      auto listener = net::Listener::open(part->loop, given.options.listen_host, port,
                                          [this, &self](int fd) { deal_out(self, fd); });
      if (!listener) return fail(listener.error());
      part->listener = std::move(*listener);
      port = part->listener->port();  // a free port is chosen once
      loops.push_back(std::move(part));
    }
    return {};
  }

  int connections() const {
    int sum = 0;
    for (const auto& each : loops) sum += each->loop.connections();
    return sum;
  }

  // The kernel deals by address hash, and long streams pile up unevenly.
  void deal_out(Part& self, int fd) {
    Part* least = &self;
    for (const auto& each : loops) {
      if (each->loop.connections() < least->loop.connections()) least = each.get();
    }
    if (self.loop.connections() - least->loop.connections() < kImbalance) least = &self;
    // Counted first: of two loops that accept at once none goes beyond the limit.
    least->loop.add_connections(1);
    if (connections() > self.gateway->options().connections_max) {
      least->loop.add_connections(-1);
      turned_away.add();
      return self.gateway->server().turn_away(fd);
    }
    if (least == &self) return self.gateway->server().admit(fd);
    least->loop.post([least, fd] { least->gateway->server().admit(fd); });
  }

  void run_loop(Part& part) {
    set_metric_shard(part.loop.index());
    part.listener->start();
    part.loop.run();
  }

  void begin_drain(Part& part, Nanos give_up_at) {
    // The port stays open: whoever comes now is told 503 and where to go, not refused.
    part.gateway->server().drain();
    auto tick = std::make_unique<DrainTick>(part, give_up_at);
    tick->set(monotonic_ns());
    part.drain = std::move(tick);
  }

  void drain_further(Part& part, DrainTick& tick) {
    const Nanos now = monotonic_ns();
    http::Server& server = part.gateway->server();
    if (server.connections() == 0) {
      part.listener->stop();
      part.gateway->close_idle();
      part.loop.stop();
      return;
    }
    if (tick.told && now >= tick.give_up_at + kTellTime) server.abort_all();
    if (!tick.told && (now >= tick.give_up_at || stopping_at_once.load())) {
      tick.told = true;
      tick.give_up_at = now;
      part.listener->stop();
      server.end_exchanges();
    }
    tick.set(now + kDrainTick);
  }

  Status renew_tls(const TlsFiles& files) {
    if (!secured || files.certificate.empty()) return {};
    std::vector<std::shared_ptr<net::TlsContext>> fresh;
    for (size_t i = 0; i < loops.size(); ++i) {
      Result<std::unique_ptr<net::TlsContext>> made =
          net::TlsContext::server(files.certificate, files.key);
      if (!made) return fail(made.error());
      fresh.push_back(std::move(*made));
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      Part* part = loops[i].get();
      part->loop.post([part, tls = fresh[i]] {
        part->gateway->server().set_tls(*tls);
        part->tls = tls;
      });
    }
    return {};
  }

  bool secured = false;  // from the start and for good
  std::atomic<bool> stopping_at_once{false};
};

Gateway::Gateway(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gateway::~Gateway() = default;

Result<std::unique_ptr<Gateway>> Gateway::open(const Snapshot& settings, Parts parts) {
  auto impl = std::make_unique<Impl>();
  impl->parts = std::move(parts);
  if (const Status opened = impl->open(settings); !opened) return fail(opened.error());
  return std::unique_ptr<Gateway>(new Gateway(std::move(impl)));
}

void Gateway::run() {
  for (size_t i = 1; i < impl_->loops.size(); ++i) {
    Impl::Part& part = *impl_->loops[i];
    part.thread = std::thread([this, &part] { impl_->run_loop(part); });
  }
  impl_->run_loop(*impl_->loops[0]);
  for (size_t i = 1; i < impl_->loops.size(); ++i) impl_->loops[i]->thread.join();
}

void Gateway::reload(const Snapshot& settings) {
  auto snapshot = std::make_shared<Snapshot>(settings);
  snapshot->server = server_options(settings.options);
  const std::shared_ptr<const Snapshot> shared = snapshot;
  for (const auto& part : impl_->loops) {
    Impl::Part* to = part.get();
    to->loop.post([to, shared] { to->gateway->set_settings(copy_for_loop(shared)); });
  }
}

Status Gateway::renew_tls(const TlsFiles& files) {
  return impl_->renew_tls(files);
}

void Gateway::stop() {
  if (impl_->stopping.exchange(true)) {
    impl_->stopping_at_once.store(true);
    return;
  }
  impl_->common.draining.store(true);
  const Nanos give_up_at = monotonic_ns() + impl_->settings->options.drain_s * kSecond;
  for (const auto& part : impl_->loops) {
    Impl::Part* to = part.get();
    to->loop.post([this, to, give_up_at] { impl_->begin_drain(*to, give_up_at); });
  }
}

uint16_t Gateway::port() const {
  return impl_->loops[0]->listener->port();
}
int Gateway::loops() const {
  return static_cast<int>(impl_->loops.size());
}

}  // namespace hw::gateway
