// LoopMetrics: the gateway's metrics as one loop touches them. Series with labels are looked up in
// the registry once and remembered, so that a call costs a few array accesses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/dialect.h"
#include "base/metrics.h"
#include "timeline/call.h"
#include "timeline/stages.h"

namespace hw::gateway {

// Where a client was lost, for headway_aborts_total.
enum class AbortPhase : uint8_t {
  kUpload,  // the request was not complete
  kQueue,   // it was, and no channel had been tried
  kConnect,
  kFirstByte,
  kStream,
  kBody,
  kBackoff,
};
inline constexpr size_t kAbortPhaseCount = 7;
std::string_view abort_phase_name(AbortPhase phase);

// headway_queue_depth: exchanges that wait for their turn, for a free connection of a capped
// channel or, in a back-off, for a channel that cools down.
Gauge queue_depth(Registry& registry);

// Things by name, to be looked up without making a string. What is in it stays where it is.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};
template <class T>
using ByName = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

// The series of one model on one channel.
struct PairSeries {
  std::array<std::array<std::optional<Counter>, kOutcomeCount>, kDialectCount> requests;
  bool has_latency = false;
  HistogramMetric ttft, tbt;                            // llm_ttft_ms, llm_tbt_ms
  HistogramMetric otel_ttft, otel_tpot, otel_duration;  // gen_ai_server_*
};

// The series of one model.
struct ModelSeries {
  std::string label;
  Gauge inflight;
  std::optional<Counter> input_tokens, output_tokens;
  ByName<PairSeries> channels;
};

class LoopMetrics {
 public:
  explicit LoopMetrics(Registry& registry);

  // `label`: a configured name or "other". Valid for the life of this object.
  ModelSeries& model(std::string_view label);
  // That of the label "other".
  ModelSeries& other_model() { return *other_; }
  // The latency series of `model` on `channel`; valid likewise.
  PairSeries& latency(ModelSeries& model, std::string_view channel);
  // Counts a finished call in all series that it belongs to, its stages and tokens included.
  void count(const timeline::Call& call, ModelSeries& model);
  void count_abort(AbortPhase phase);
  void record_loop_late(Nanos late) { loop_late_.record(late); }
  // An exchange begins to wait for its turn (1), or ends that (-1).
  void count_queued(int change) { queue_depth_.add(change); }

 private:
  struct ChannelSeries {
    std::array<std::optional<Counter>, kOutcomeCount> attempts;
  };

  void count_request(const timeline::Call& call, ModelSeries& model, std::string_view channel);
  void count_attempt(const timeline::Attempt& attempt);
  void count_tokens(const timeline::Call& call, ModelSeries& model);

  Registry& registry_;
  ByName<ModelSeries> models_;
  ModelSeries* other_;
  ByName<ChannelSeries> channels_;
  std::array<HistogramMetric, timeline::kStageKindCount> stages_;
  HistogramMetric overhead_, loop_late_;
  std::array<Counter, kAbortPhaseCount> aborts_;
  Gauge queue_depth_;
  timeline::StageList stage_list_;  // of the call being counted
};

}  // namespace hw::gateway
