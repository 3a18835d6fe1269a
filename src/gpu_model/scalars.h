// Scalars: the fifteen numbers of the cost model that calibration may move. None belongs to one
// model or one GPU; peaks, curves and shapes stay as they are.
#pragma once

#include <array>
#include <string_view>

namespace hw::gpu_model {

// As shipped: fitted to bench/twin_data/vllm-h100.csv by `headway plan calibrate` from the values
// in its README.md.
struct Scalars {
  // Factors on the measured efficiencies of gpu.h.
  double bf16_compute = 0.7513;
  double bf16_bandwidth = 1.174;
  double fp8_compute = 1.702;
  double fp8_bandwidth = 1.608;
  double expert_compute = 0.5724;
  double expert_bandwidth = 1.322;
  double prefill_attention = 2.0;
  double decode_floor = 1.107;
  double all_reduce = 1.0;
  // Kernels beside these, and the host.
  double layer_us = 5.911;
  double expert_layer_us = 8.459;  // routing, sorting, combining
  double step_us = 700;
  double sequence_us = 33.54;     // of each sequence in a step
  double client_ms = 11.45;       // of each request, before the engine has it: network, tokenizer
  double client_token_us = 12.8;  // of each token of its prompt, likewise
};

// One of them, with the bounds within which it is believed.
struct ScalarBound {
  std::string_view name;
  double Scalars::* member;
  double least;
  double most;
};
inline constexpr int kScalarCount = 15;
inline constexpr std::array<ScalarBound, kScalarCount> kScalarBounds = {{
    {"bf16_compute", &Scalars::bf16_compute, 0.6, 1.3},
    {"bf16_bandwidth", &Scalars::bf16_bandwidth, 0.6, 1.35},
    {"fp8_compute", &Scalars::fp8_compute, 0.6, 1.8},
    {"fp8_bandwidth", &Scalars::fp8_bandwidth, 0.6, 1.9},
    {"expert_compute", &Scalars::expert_compute, 0.1, 1.5},
    {"expert_bandwidth", &Scalars::expert_bandwidth, 0.1, 1.5},
    {"prefill_attention", &Scalars::prefill_attention, 0.3, 2.0},
    {"decode_floor", &Scalars::decode_floor, 0.1, 2.5},
    {"all_reduce", &Scalars::all_reduce, 0.3, 3.0},
    {"layer_us", &Scalars::layer_us, 0.5, 60},
    {"expert_layer_us", &Scalars::expert_layer_us, 0.5, 150},
    {"step_us", &Scalars::step_us, 50, 5000},
    {"sequence_us", &Scalars::sequence_us, 0.5, 100},
    {"client_ms", &Scalars::client_ms, 0.5, 80},
    {"client_token_us", &Scalars::client_token_us, 0.1, 60},
}};

}  // namespace hw::gpu_model
