// LoopMetrics: the gateway's metrics as one loop touches them. Series with labels are looked up in
// the registry once and remembered, so that a call costs a few array accesses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/dialect.h"
#include "base/metrics.h"
#include "timeline/call.h"
#include "timeline/stages.h"

namespace hw::gateway {

// Where a client was lost, for headway_aborts_total.
enum class AbortPhase : uint8_t { kQueue, kConnect, kFirstByte, kStream, kBody, kBackoff };
std::string_view abort_phase_name(AbortPhase phase);

// The latency series of one model on one channel.
struct LatencySeries {
  HistogramMetric ttft, tbt;                            // llm_ttft_ms, llm_tbt_ms
  HistogramMetric otel_ttft, otel_tpot, otel_duration;  // gen_ai_server_*
};

class LoopMetrics {
 public:
  explicit LoopMetrics(Registry& registry);

  // `model` is the label: a configured name or "other". Valid for the life of this object.
  LatencySeries& latency(std::string_view model, std::string_view channel);
  Gauge inflight(std::string_view model);
  // Counts a finished call in all series that it belongs to, its stages and tokens included.
  void count(const timeline::Call& call, std::string_view model_label);
  void count_abort(AbortPhase phase);
  void record_loop_late(Nanos late) { loop_late_.record(late); }

 private:
  Counter requests(std::string_view model, std::string_view channel, Dialect dialect,
                   Outcome outcome);

  Registry& registry_;
  std::unordered_map<std::string, LatencySeries> latency_;
  std::unordered_map<std::string, Gauge> inflight_;
  std::unordered_map<std::string, Counter> requests_, attempts_, tokens_;
  std::array<HistogramMetric, 17> stages_;
  HistogramMetric overhead_, loop_late_;
  std::array<Counter, 6> aborts_;
  std::string key_;  // scratch for look-ups
};

}  // namespace hw::gateway
