// Gpu: what an accelerator can do at most, and how much of that kernels get out of it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hw::gpu_model {

// Measured shares of the peaks, medians over kernels of vLLM (operation tables published with
// NVIDIA's AIConfigurator, github.com/ai-dynamo/aiconfigurator, Apache-2.0).
struct Efficiency {
  static constexpr int kGemmPoints = 8;       // m = 128, 256, ... 16384
  static constexpr int kAttentionPoints = 6;  // 512, 1024, ... 16384 positions
  static constexpr int kReducePoints = 6;     // 8 Ki, 128 Ki, 512 Ki, 2 Mi, 8 Mi, 32 Mi elements

  double gemm_bandwidth = 0.72;                    // BF16, m up to 64
  std::array<double, kGemmPoints> gemm_compute{};  // BF16, of the BF16 peak
  double fp8_bandwidth = 0.51;
  double fp8_compute = 0.52;        // of the FP8 peak, m from 2048 on
  double decode_bandwidth = 0.904;  // attention over more than 1 GB of keys and values
  double decode_floor_us = 30;      // a layer's, beside that bandwidth
  std::array<double, kAttentionPoints> prefill_compute{};
  // Microseconds of an all-reduce over 2, 4 and 8 GPUs.
  std::array<std::array<double, kReducePoints>, 3> all_reduce_us{};
};

// Where a row's efficiencies come from.
enum class Origin : unsigned char {
  kMeasured,  // this GPU's own tables
  kBorrowed,  // peaks are its own, efficiencies those of a like one
};

// One GPU. Peaks are dense, without sparsity.
struct Gpu {
  std::string_view name;
  double memory_gib = 0;      // that CUDA shows
  double bandwidth_gb_s = 0;  // of its memory
  double bf16_tflops = 0;
  double fp8_tflops = 0;  // 0: computes in BF16
  double link_gb_s = 0;   // to its neighbours, each direction
  Origin origin = Origin::kBorrowed;
  Efficiency efficiency;
};

// All of them.
const std::vector<Gpu>& known_gpus();

// By name without regard to case; "h100" is "h100_sxm", "a100" is "a100_sxm". kConfig with the list
// where there is none.
Result<Gpu> find_gpu(std::string_view name);

}  // namespace hw::gpu_model
