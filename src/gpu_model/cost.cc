#include "gpu_model/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/assert.h"

namespace hw::gpu_model {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kKernelStart_s = 2 * kMicro;   // of a matrix product
constexpr double kPrefillStart_s = 6 * kMicro;  // of a prompt's attention
constexpr double kElementwiseShare = 0.8;       // of the bandwidth, for what is no product
constexpr double kGemmFirst = 128;              // m of the first point of the curve
constexpr double kAttentionFirst = 512;
constexpr int kReferencePoint = 4;  // m = 2048, to which FP8's share belongs
constexpr double kActivationBytes = 2;

// Between points that are factors of two apart, linear in the logarithm; flat outside.
double on_curve(std::span<const double> points, double first, double x) {
  const double place = std::log2(std::max(x, first) / first);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= points.size()) return points.back();
  const double share = place - static_cast<double>(below);
  return points[below] + (points[below + 1] - points[below]) * share;
}

// Positions that `count` queries behind `context` ones attend to, all together.
double pairs(double context, double count) {
  return count * context + count * count / 2;
}

// Likewise where each sees `window` positions at most.
double windowed_pairs(double context, double count, double window) {
  const double rising = std::clamp(window - context, 0.0, count);
  return pairs(context, rising) + (count - rising) * window;
}

}  // namespace

StepCost::StepCost(const ModelShape& shape, const Gpu& gpu, const CostOptions& options,
                   const Scalars& scalars)
    : shape_(shape), gpu_(gpu), options_(options), scalars_(scalars) {
  KvOptions kv;
  kv.precision = options.kv_precision;
  kv.tensor_parallel = options.tensor_parallel;
  kv.block_tokens = 1;
  const Result<KvLayout> layout = kv_layout(shape, kv);
  HW_ASSERT(layout.has_value() && options.tokens_max > 0);
  const double bandwidth = gpu.bandwidth_gb_s * 1e9 * gpu.efficiency.decode_bandwidth;
  kv_second_per_position_ = static_cast<double>(layout->layer_block_bytes) / bandwidth;
  decode_floor_s_ = gpu.efficiency.decode_floor_us * kMicro * scalars.decode_floor;
  linear_.assign(static_cast<size_t>(options.tokens_max) + 1, -1);
}

void StepCost::add_decode(StepLoad& load, int64_t context) {
  ++load.tokens;
  ++load.sequences;
  ++load.sampled;
  ++load.decodes;
  load.decode_context += context + 1;
}

void StepCost::add_prefill(StepLoad& load, int64_t context, int count, Ends sampled) const {
  load.tokens += count;
  ++load.sequences;
  if (sampled == Ends::kYes) ++load.sampled;
  const auto before = static_cast<double>(context);
  double positions = shape_.full_layers() * pairs(before, count);
  if (shape_.window_layers > 0) {
    positions += shape_.window_layers * windowed_pairs(before, count, shape_.window);
  }
  const double heads = static_cast<double>(shape_.heads) / options_.tensor_parallel;
  const double work = 2.0 * heads * (shape_.head_dim + shape_.value_dim) * positions;
  const double share = on_curve(gpu_.efficiency.prefill_compute, kAttentionFirst, before + count) *
                       scalars_.prefill_attention;
  load.prefill_attention_s +=
      work / (gpu_.bf16_tflops * 1e12 * share) + kPrefillStart_s * shape_.layers;
}

double StepCost::seconds(const StepLoad& load) {
  if (load.tokens == 0) return 0;
  const double host = (scalars_.step_us + scalars_.sequence_us * load.sequences) * kMicro;
  return linear_s(load.tokens) + head_s(load.sampled) + decode_attention_s(load) +
         load.prefill_attention_s + host;
}

Nanos StepCost::client_ns(int prompt_tokens) const {
  const double ns = scalars_.client_ms * 1e6 + scalars_.client_token_us * 1e3 * prompt_tokens;
  return static_cast<Nanos>(ns);
}

// Everything whose time depends on the number of tokens alone.
double StepCost::linear_s(int tokens) {
  const int most = options_.tokens_max;
  if (tokens > most) return linear_s(most) * tokens / most;
  double& known = linear_[static_cast<size_t>(tokens)];
  if (known < 0) known = layers_s(tokens);
  return known;
}

double StepCost::head_s(int sampled) {
  if (sampled <= 0) return 0;
  const auto at = static_cast<size_t>(sampled);
  if (at >= head_.size()) head_.resize(at + 1, -1);
  if (head_[at] < 0) {
    const double columns = static_cast<double>(shape_.vocab) / options_.tensor_parallel;
    head_[at] = matmul_s(sampled, columns, shape_.hidden, Precision::kBf16);
  }
  return head_[at];
}

double StepCost::layers_s(double tokens) const {
  const double wide = std::max(shape_.ffn, shape_.experts_active * shape_.expert_ffn);
  const double moved =
      kActivationBytes * tokens * (8.0 * shape_.hidden + 3.0 * wide / options_.tensor_parallel);
  const double elementwise = moved / (kElementwiseShare * gpu_.bandwidth_gb_s * 1e9);
  const double reduce = 2 * all_reduce_s(tokens * shape_.hidden);
  const double each =
      attention_weights_s(tokens) + elementwise + reduce + scalars_.layer_us * kMicro;
  const double dense = shape_.layers - shape_.expert_layers();
  return shape_.layers * each + (dense > 0 ? dense * feed_forward_s(tokens) : 0) +
         (shape_.expert_layers() > 0 ? shape_.expert_layers() * experts_s(tokens) : 0);
}

// The products around attention: queries, keys and values, and out.
double StepCost::attention_weights_s(double tokens) const {
  const double tp = options_.tensor_parallel;
  const double out_inner = shape_.heads * shape_.value_dim / tp;
  const double out = matmul_s(tokens, shape_.hidden, out_inner, shape_.weights);
  if (shape_.latent()) {
    const double query = static_cast<double>(shape_.heads) * shape_.head_dim / tp;
    const double down =
        static_cast<double>(shape_.q_lora_rank) + shape_.kv_lora_rank + shape_.rope_dim;
    const double inner = shape_.q_lora_rank > 0 ? shape_.q_lora_rank : shape_.hidden;
    const double up = static_cast<double>(shape_.heads) * (shape_.nope_dim + shape_.value_dim) / tp;
    return matmul_s(tokens, down, shape_.hidden, shape_.weights) +
           matmul_s(tokens, query, inner, shape_.weights) +
           matmul_s(tokens, up, shape_.kv_lora_rank, shape_.weights) + out;
  }
  const double kv_heads = std::max(1.0, shape_.kv_heads / tp);
  const double columns = (shape_.heads / tp + 2 * kv_heads) * shape_.head_dim;
  return matmul_s(tokens, columns, shape_.hidden, shape_.weights) + out;
}

double StepCost::feed_forward_s(double tokens) const {
  const double width = static_cast<double>(shape_.ffn) / options_.tensor_parallel;
  return matmul_s(tokens, 2 * width, shape_.hidden, shape_.weights) +
         matmul_s(tokens, shape_.hidden, width, shape_.weights);
}

// A roofline: computing, or moving the weights and activations, whichever takes longer.
double StepCost::matmul_s(double m, double n, double k, Precision precision) const {
  const Efficiency& share = gpu_.efficiency;
  const bool fp8 = precision == Precision::kFp8;
  const double curve = on_curve(share.gemm_compute, kGemmFirst, m);
  double peak = gpu_.bf16_tflops * curve * scalars_.bf16_compute;
  if (fp8 && gpu_.fp8_tflops > 0) {
    peak = gpu_.fp8_tflops * share.fp8_compute * curve / share.gemm_compute[kReferencePoint] *
           scalars_.fp8_compute;
  }
  const double bandwidth = fp8 ? share.fp8_bandwidth * scalars_.fp8_bandwidth
                               : share.gemm_bandwidth * scalars_.bf16_bandwidth;
  const double in_bytes = fp8 ? 1 : kActivationBytes;
  const double bytes = n * k * bytes_of(precision) + m * k * in_bytes + m * n * kActivationBytes;
  const double moving =
      bytes / (gpu_.bandwidth_gb_s * 1e9 * std::min(bandwidth, 1.0)) + kKernelStart_s;
  return std::max(2 * m * n * k / (peak * 1e12), moving);
}

// All experts of a layer in one grouped product; those that some token chose are read.
double StepCost::experts_s(double tokens) const {
  const double experts = shape_.experts;
  const double chosen = shape_.experts_active / experts;
  const double touched = experts * (1 - std::pow(1 - chosen, tokens));
  const double width = static_cast<double>(shape_.expert_ffn) / options_.tensor_parallel;
  const double weights = 3.0 * shape_.hidden * width;
  const double rows = tokens * shape_.experts_active;
  const double curve = on_curve(gpu_.efficiency.gemm_compute, kGemmFirst, rows / touched);
  const bool fp8 = shape_.expert_weights == Precision::kFp8 && gpu_.fp8_tflops > 0;
  const double peak = (fp8 ? gpu_.fp8_tflops * gpu_.efficiency.fp8_compute /
                                 gpu_.efficiency.gemm_compute[kReferencePoint]
                           : gpu_.bf16_tflops) *
                      curve * scalars_.expert_compute;
  const double bytes = touched * weights * bytes_of(shape_.expert_weights) +
                       rows * (2.0 * shape_.hidden + 4 * width) * kActivationBytes;
  const double bandwidth =
      std::min(1.0, gpu_.efficiency.gemm_bandwidth * scalars_.expert_bandwidth);
  const double moving = bytes / (gpu_.bandwidth_gb_s * 1e9 * bandwidth);
  const double router = matmul_s(tokens, experts, shape_.hidden, Precision::kBf16);
  const double shared_width = static_cast<double>(shape_.shared_ffn) / options_.tensor_parallel;
  const double shared = shape_.shared_ffn == 0
                            ? 0
                            : matmul_s(tokens, 2 * shared_width, shape_.hidden, shape_.weights) +
                                  matmul_s(tokens, shape_.hidden, shared_width, shape_.weights);
  return std::max(2 * rows * weights / (peak * 1e12), moving) + router + shared +
         scalars_.expert_layer_us * kMicro;
}

// The measured sizes are 8 Ki to 32 Mi elements; between them, and between 2, 4 and 8 GPUs, linear
// in the logarithm; beyond, in proportion.
double StepCost::all_reduce_s(double elements) const {
  if (options_.tensor_parallel == 1) return 0;
  constexpr std::array<double, Efficiency::kReducePoints> kSizes = {8192,    131072,  524288,
                                                                    2097152, 8388608, 33554432};
  const auto among = [&](int row) {
    const auto& times = gpu_.efficiency.all_reduce_us[static_cast<size_t>(row)];
    if (elements <= kSizes.front()) return times.front();
    if (elements >= kSizes.back()) return times.back() * elements / kSizes.back();
    size_t at = 1;
    while (kSizes[at] < elements) ++at;
    const double share = (elements - kSizes[at - 1]) / (kSizes[at] - kSizes[at - 1]);
    return times[at - 1] + (times[at] - times[at - 1]) * share;
  };
  const double place = std::clamp(std::log2(options_.tensor_parallel) - 1, 0.0, 2.0);
  const int below = std::min(1, static_cast<int>(place));
  const double share = place - below;
  const double us = among(below) * (1 - share) + among(below + 1) * share;
  return us * kMicro * scalars_.all_reduce;
}

// Linear in the positions (LLMServingSim finds R² = 1.0). Of sequences with a window each is taken
// to be as long as the mean.
double StepCost::decode_attention_s(const StepLoad& load) const {
  if (load.decodes == 0) return 0;
  const auto all = static_cast<double>(load.decode_context);
  double positions = shape_.full_layers() * all;
  if (shape_.window_layers > 0) {
    positions +=
        shape_.window_layers * std::min(all, static_cast<double>(load.decodes) * shape_.window);
  }
  return positions * kv_second_per_position_ + shape_.layers * decode_floor_s_;
}

}  // namespace hw::gpu_model
