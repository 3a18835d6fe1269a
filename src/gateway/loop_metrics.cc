#include "gateway/loop_metrics.h"

#include <array>

namespace hw::gateway {
namespace {

using timeline::StageKind;

constexpr std::array<double, 6> kTtftMs = {100, 300, 500, 1000, 2000, 5000};
constexpr std::array<double, 6> kTbtMs = {10, 30, 50, 100, 200, 500};
// From the gateway's own microseconds to a model's minutes, three to a decade.
constexpr std::array<double, 24> kFine = {
    0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
    0.1,     0.2,     0.5,     1,      2,      5,      10,    20,    50,    100,  200,  500};
// The boundaries that OpenTelemetry's semantic conventions for generative AI advise.
constexpr std::array<double, 14> kOtelTtft = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08,
                                              0.1,   0.25,  0.5,  0.75, 1.0,  2.5,  5.0};
constexpr std::array<double, 13> kOtelTpot = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                              0.3,  0.4,   0.5,  0.75,  1.0, 2.5};
constexpr std::array<double, 14> kOtelDuration = {0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                                  1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};

constexpr std::array<std::string_view, kAbortPhaseCount> kPhases = {
    "upload", "queue", "connect", "first_byte", "stream", "body", "backoff"};

}  // namespace

std::string_view abort_phase_name(AbortPhase phase) {
  return kPhases[static_cast<size_t>(phase)];
}

Gauge queue_depth(Registry& registry) {
  return registry.gauge(
      "headway_queue_depth",
      "Exchanges that wait for a free connection or, in a back-off, for a channel.");
}

LoopMetrics::LoopMetrics(Registry& registry)
    : registry_(registry), other_(&model("other")), queue_depth_(queue_depth(registry)) {
  for (size_t i = 0; i < stages_.size(); ++i) {
    stages_[i] =
        registry_.histogram("headway_stage_seconds", "Time that exchanges spent in each stage.",
                            {{"stage", timeline::stage_name(static_cast<StageKind>(i))}}, kFine);
  }
  overhead_ = registry_.histogram("headway_overhead_seconds",
                                  "Time in which an exchange waited for nobody but the gateway.",
                                  {}, kFine);
  loop_late_ =
      registry_.histogram("headway_loop_late_seconds",
                          "How long bytes had waited for their event loop, at most.", {}, kFine);
  for (size_t i = 0; i < aborts_.size(); ++i) {
    aborts_[i] = registry_.counter("headway_aborts_total",
                                   "Clients that left, by what the exchange was doing.",
                                   {{"phase", kPhases[i]}});
  }
}

ModelSeries& LoopMetrics::model(std::string_view label) {
  const auto found = models_.find(label);
  if (found != models_.end()) return found->second;
  ModelSeries& made = models_[std::string(label)];
  made.label = label;
  made.inflight = registry_.gauge("headway_inflight", "Exchanges under way.", {{"model", label}});
  return made;
}

namespace {

PairSeries& pair_of(ModelSeries& model, std::string_view channel) {
  const auto found = model.channels.find(channel);
  return found != model.channels.end() ? found->second : model.channels[std::string(channel)];
}

}  // namespace

PairSeries& LoopMetrics::latency(ModelSeries& model, std::string_view channel) {
  PairSeries& series = pair_of(model, channel);
  if (series.has_latency) return series;
  series.has_latency = true;
  const Labels labels = {{"model", model.label}, {"channel", channel}};
  series.ttft = registry_.histogram("llm_ttft_ms",
                                    "Time to first token, from the request's last byte, in ms.",
                                    labels, kTtftMs, kMsFromNs);
  series.tbt = registry_.histogram("llm_tbt_ms", "Time between neighbouring token events, in ms.",
                                   labels, kTbtMs, kMsFromNs);
  const Labels otel = {{"gen_ai_request_model", model.label}, {"channel", channel}};
  series.otel_ttft = registry_.histogram("gen_ai_server_time_to_first_token_seconds",
                                         "Time to first token.", otel, kOtelTtft);
  series.otel_tpot = registry_.histogram("gen_ai_server_time_per_output_token_seconds",
                                         "Time per output token after the first.", otel, kOtelTpot);
  series.otel_duration = registry_.histogram("gen_ai_server_request_duration_seconds",
                                             "Duration of a request.", otel, kOtelDuration);
  return series;
}

void LoopMetrics::count_abort(AbortPhase phase) {
  aborts_[static_cast<size_t>(phase)].add();
}

void LoopMetrics::count_request(const timeline::Call& call, ModelSeries& model,
                                std::string_view channel) {
  std::optional<Counter>& counter =
      pair_of(model, channel)
          .requests[static_cast<size_t>(call.dialect)][static_cast<size_t>(call.outcome)];
  if (!counter) {
    counter = registry_.counter("headway_requests_total", "Finished exchanges.",
                                {{"model", model.label},
                                 {"channel", channel},
                                 {"dialect", dialect_name(call.dialect)},
                                 {"outcome", outcome_name(call.outcome)}});
  }
  counter->add();
}

void LoopMetrics::count_attempt(const timeline::Attempt& attempt) {
  auto found = channels_.find(std::string_view(attempt.channel));
  if (found == channels_.end()) found = channels_.try_emplace(attempt.channel).first;
  std::optional<Counter>& counter = found->second.attempts[static_cast<size_t>(attempt.outcome)];
  if (!counter) {
    counter = registry_.counter(
        "headway_attempts_total", "Attempts on a channel.",
        {{"channel", attempt.channel}, {"outcome", outcome_name(attempt.outcome)}});
  }
  counter->add();
}

void LoopMetrics::count_tokens(const timeline::Call& call, ModelSeries& model) {
  const auto add = [&](std::optional<Counter>& counter, std::string_view direction,
                       int64_t tokens) {
    if (tokens <= 0) return;
    if (!counter) {
      counter = registry_.counter("headway_tokens_total",
                                  "Tokens, as the upstreams reported them or estimated.",
                                  {{"model", model.label}, {"direction", direction}});
    }
    counter->add(tokens);
  };
  add(model.input_tokens, "input", call.tokens.input);
  add(model.output_tokens, "output", call.tokens.output);
}

void LoopMetrics::count(const timeline::Call& call, ModelSeries& model) {
  const timeline::Attempt* last = call.winner();
  count_request(call, model, last == nullptr ? std::string_view() : last->channel);
  for (const timeline::Attempt& attempt : call.attempts) count_attempt(attempt);
  count_tokens(call, model);
  overhead_.record(call.overhead_ns);
  timeline::lay_stages(call, stage_list_);
  for (const timeline::Stage& stage : stage_list_.stages) {
    stages_[static_cast<size_t>(stage.kind)].record(stage.length());
  }
  if (last == nullptr) return;
  PairSeries& series = latency(model, last->channel);
  series.otel_duration.record(call.total_ns());
  const Nanos ttft = timeline::ttft_ns(call);
  if (ttft >= 0) {
    series.ttft.record(ttft);
    series.otel_ttft.record(ttft);
  }
  const Nanos tpot = timeline::tpot_ns(call);
  if (tpot >= 0) series.otel_tpot.record(tpot);
}

}  // namespace hw::gateway
