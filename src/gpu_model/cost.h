// StepCost: how long a step of an engine takes, from sums over what it computes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "gpu_model/gpu.h"
#include "gpu_model/kv.h"
#include "gpu_model/scalars.h"
#include "gpu_model/shape.h"

namespace hw::gpu_model {

// A step, as sums over its sequences. Filled by StepCost's add_*().
struct StepLoad {
  int tokens = 0;              // computed
  int sequences = 0;           // that have a part in it
  int sampled = 0;             // whose last token becomes the next one
  int decodes = 0;             // that compute one token behind an answer that has begun
  int64_t decode_context = 0;  // positions that those attend to, their new ones included
  double prefill_attention_s = 0;
};

// What surrounds the model.
struct CostOptions {
  int tensor_parallel = 1;
  KvPrecision kv_precision = KvPrecision::kBf16;
  int tokens_max = 8192;  // most in a step; more are priced in proportion
};

// Prices steps of one model on one kind of GPU. Fills tables as it is asked: not thread-safe, and
// cheap after the first step of a size. Each matrix product is a roofline of its own; the terms are
// in docs/engine.md.
class StepCost {
 public:
  // A shape and options that kv_layout() accepts.
  StepCost(const ModelShape& shape, const Gpu& gpu, const CostOptions& options,
           const Scalars& scalars);

  // One sequence's part of a step: its next token behind `context` positions that are computed.
  static void add_decode(StepLoad& load, int64_t context);
  // `count` tokens of a prompt behind `context` positions; `sampled` where the prompt ends in it.
  enum class Ends : bool { kNo, kYes };
  void add_prefill(StepLoad& load, int64_t context, int count, Ends sampled) const;

  // Seconds of a step. A load without tokens takes none.
  double seconds(const StepLoad& load);
  // Likewise in whole nanoseconds, at least 1.
  Nanos nanos(const StepLoad& load) { return static_cast<Nanos>(seconds(load) * 1e9 + 0.5) + 1; }
  // From a request's being sent to the engine's having it.
  Nanos client_ns(int prompt_tokens) const;

 private:
  double linear_s(int tokens);
  double head_s(int sampled);
  double layers_s(double tokens) const;
  double matmul_s(double m, double n, double k, Precision precision) const;
  double experts_s(double tokens) const;
  double all_reduce_s(double elements) const;
  double decode_attention_s(const StepLoad& load) const;
  double attention_weights_s(double tokens) const;
  double feed_forward_s(double tokens) const;

  ModelShape shape_;
  Gpu gpu_;
  CostOptions options_;
  Scalars scalars_;
  double kv_second_per_position_ = 0;  // of one layer
  double decode_floor_s_ = 0;
  std::vector<double> linear_;  // by tokens; below 0: not computed yet
  std::vector<double> head_;    // by sampled tokens, likewise
};

}  // namespace hw::gpu_model
