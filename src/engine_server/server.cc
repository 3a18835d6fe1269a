#include "engine_server/server.h"

#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/engine_metrics.h"
#include "engine_server/admin_exchange.h"
#include "engine_server/completion_exchange.h"
#include "engine_server/instance_handler.h"
#include "http/server.h"
#include "net/blocking_pool.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/timers.h"

namespace hw::engine_server {
namespace {

constexpr Nanos kDrainTime = 30 * kSecond;
constexpr Nanos kDrainLook = 10 * kMillisecond;

// An instance is asked by gateways, not by the world: a few more connections than requests.
http::ServerOptions http_options(const engine::Limits& limits) {
  http::ServerOptions options;
  options.connections_max = limits.requests_max() + 256;
  return options;
}

// What vLLM's users look for beside the changing numbers.
void tell_constants(Registry& registry, const engine::Limits& limits,
                    const engine::ModelOptions& model) {
  const scheduler::Options& scheduling = limits.scheduling;
  const std::string blocks = concat(scheduling.kv_blocks);
  const std::string block = concat(scheduler::kBlockTokens);
  const std::string tokens = concat(scheduling.kv_blocks * scheduler::kBlockTokens);
  const std::string concurrency =
      fixed(static_cast<double>(limits.cells()) / scheduling.max_model_len, 2);
  const std::string share = fixed(model.kv_cache_ratio, 2);
  const std::string_view caching = scheduling.enable_prefix_caching ? "True" : "False";
  const Labels labels = {{"block_size", block},
                         {"enable_prefix_caching", caching},
                         {"engine", "0"},
                         {"gpu_memory_utilization", share},
                         {"kv_cache_max_concurrency", concurrency},
                         {"kv_cache_size_tokens", tokens},
                         {"model_name", model.model_id},
                         {"num_gpu_blocks", blocks}};
  registry.gauge("vllm:cache_config_info", "Information of the LLMEngine CacheConfig", labels)
      .set(1);
  for (const std::string_view state : {"awake", "weights_offloaded", "discard_all"}) {
    registry
        .gauge("vllm:engine_sleep_state", "1 for the state the engine is in: always awake here.",
               {{"engine", "0"}, {"model_name", model.model_id}, {"sleep_state", state}})
        .set(state == "awake" ? 1 : 0);
  }
}

// Where faults may be asked for, a backend that can suffer them.
faults::FaultyBackend* make_faulty(const engine::Options& options, engine::Instance& instance) {
  if (options.server.admin_token.empty() && options.server.faults.empty()) return nullptr;
  auto faulty =
      std::make_unique<faults::FaultyBackend>(std::move(instance.backend), faults::Faults());
  faults::FaultyBackend* const kept = faulty.get();
  instance.backend = std::move(faulty);
  return kept;
}

// Those that the options ask for from the start.
Status begin_faults(const engine::Options& options, const Services& services) {
  if (options.server.faults.empty()) return {};
  const Result<faults::Faults> faults = faults::read_faults(options.server.faults);
  if (!faults.has_value()) {
    return fail(ErrorCode::kConfig, concat("[server] faults: ", faults.error().message));
  }
  suffer(services, *faults);
  return {};
}

}  // namespace

struct InstanceServer::Impl {
  // Looks from time to time whether the drain is through.
  struct DrainTimer final : net::Deadline {
    Impl& impl;
    explicit DrainTimer(Impl& i) : Deadline(i.loop.timers()), impl(i) {}
    void on_deadline() override { impl.look_after_drain(); }
  };

  // Looks whether a step hangs, which the engine's own thread cannot see.
  struct Supervision final : net::Deadline {
    Impl& impl;
    explicit Supervision(Impl& i) : Deadline(i.loop.timers()), impl(i) {}
    void on_deadline() override {
      impl.engine.supervise();
      set(monotonic_ns() + engine::kLookInterval);
    }
  };

  Impl(const engine::Options& options, engine::Instance instance, Registry& registry,
       faults::FaultyBackend* faults)
      : tokenizer(std::move(instance.tokenizer)),
        limits(instance.limits),
        metrics(registry, options.model.model_id),
        engine(limits, std::move(instance.backend), *tokenizer, clock, metrics, &log),
        services{engine,
                 *tokenizer,
                 options.model.model_id,
                 options.server.request_timeout_seconds,
                 loop,
                 blocking,
                 random,
                 options.server.admin_token,
                 faults},
        handler(services, registry, http_options(limits)),
        server(loop, handler, nullptr),
        drain_timer(*this),
        supervision(*this) {
    tell_constants(registry, limits, options.model);
    gauges = registry.on_collect([this] { set_gauges(); });
  }

  void set_gauges() {
    const engine::Load load = engine.snapshot().load;
    metrics.running.set(load.running);
    metrics.waiting.set(load.waiting);
    metrics.waiting_for_room.set(load.waiting);
    metrics.blocks_used_ppm.set(load.blocks_used * 1'000'000 / load.blocks);
  }

  // On the loop, as all below.
  void drain() {
    const Nanos now = monotonic_ns();
    if (drain_until) {
      server.abort_all();
      return;
    }
    drain_until = now + kDrainTime;
    handler.begin_drain();
    listener->stop();
    server.drain();
    look_after_drain();
  }

  void look_after_drain() {
    if (server.connections() == 0) return loop.stop();
    const Nanos now = monotonic_ns();
    if (now >= *drain_until) server.abort_all();
    drain_timer.set(now + kDrainLook);
  }

  SystemClock clock;
  Random random{random_seed()};
  net::Loop loop{0};
  net::BlockingPool blocking{1};
  std::unique_ptr<engine::Tokenizer> tokenizer;
  engine::Limits limits;
  engine::EngineMetrics metrics;
  engine::EngineLog log;
  engine::Engine engine;
  Services services;
  InstanceHandler handler;
  http::Server server;
  std::unique_ptr<net::Listener> listener;
  DrainTimer drain_timer;
  Supervision supervision;
  std::optional<Nanos> drain_until;
  CollectHook gauges;
};

InstanceServer::InstanceServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InstanceServer::~InstanceServer() = default;

Result<std::unique_ptr<InstanceServer>> InstanceServer::open(const engine::Options& options,
                                                             engine::Instance instance,
                                                             Registry& registry) {
  for (const std::string& note : instance.notes) log_info("engine", note);
  log_info("engine", concat("model ", options.model.model_id, ": ", instance.description,
                            "; at most ", instance.limits.sequences_max(), " sequences, ",
                            instance.limits.step_tokens_max(), " tokens a step, KV cache of ",
                            instance.limits.cells(), " tokens, prefix cache ",
                            instance.limits.scheduling.enable_prefix_caching ? "on" : "off", ", ",
                            instance.limits.threads, " compute threads"));
  faults::FaultyBackend* const faults = make_faulty(options, instance);
  auto impl = std::make_unique<Impl>(options, std::move(instance), registry, faults);
  Impl* const raw = impl.get();
  Result<std::unique_ptr<net::Listener>> listener =
      net::Listener::open(impl->loop, options.server.host, options.server.port,
                          [raw](int fd) { raw->server.accept(fd); });
  if (!listener) return fail(std::move(listener.error()));
  if (const Status opened = impl->log.open(options.server.request_log, options.server.step_log);
      !opened) {
    return fail(opened.error());
  }
  if (const Status begun = begin_faults(options, impl->services); !begun)
    return fail(begun.error());
  impl->supervision.set(monotonic_ns() + engine::kLookInterval);
  impl->listener = std::move(*listener);
  impl->listener->start();
  return std::unique_ptr<InstanceServer>(new InstanceServer(std::move(impl)));
}

uint16_t InstanceServer::port() const {
  return impl_->listener->port();
}

void InstanceServer::run() {
  impl_->loop.run();
  impl_->engine.stop();
}

void InstanceServer::stop() {
  impl_->loop.post([impl = impl_.get()] { impl->drain(); });
}

}  // namespace hw::engine_server
