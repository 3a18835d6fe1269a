#include "gpu_model/gpu.h"

#include <string>
#include <utility>

#include "base/text.h"

namespace hw::gpu_model {
namespace {

// CUDA shows less than the data sheet says: 79.19 of 80 GiB on an H100.
constexpr double kVisible = 0.99;

constexpr Efficiency kH100 = {
    .gemm_bandwidth = 0.73,
    .gemm_compute = {0.295, 0.513, 0.746, 0.802, 0.813, 0.799, 0.779, 0.756},
    .fp8_bandwidth = 0.51,
    .fp8_compute = 0.515,
    .decode_bandwidth = 0.904,
    .decode_floor_us = 30,
    .prefill_compute = {0.163, 0.274, 0.417, 0.526, 0.584, 0.615},
    .all_reduce_us = {{{4.5, 5.2, 8.3, 20, 81, 307},
                       {4.8, 7.2, 12.8, 30, 99, 330},
                       {5.3, 10.8, 15, 31, 92, 344}}},
};
constexpr Efficiency kH200 = {
    .gemm_bandwidth = 0.665,
    .gemm_compute = {0.380, 0.605, 0.777, 0.803, 0.809, 0.787, 0.763, 0.733},
    .fp8_bandwidth = 0.42,
    .fp8_compute = 0.565,
    .decode_bandwidth = 0.870,
    .decode_floor_us = 32,
    .prefill_compute = {0.168, 0.277, 0.418, 0.524, 0.582, 0.601},
    .all_reduce_us = kH100.all_reduce_us,
};
constexpr Efficiency kA100 = {
    .gemm_bandwidth = 0.645,
    .gemm_compute = {0.422, 0.601, 0.682, 0.769, 0.825, 0.836, 0.835, 0.835},
    .fp8_bandwidth = 0.645,
    .fp8_compute = 0.8,
    .decode_bandwidth = 0.741,
    .decode_floor_us = 45,
    .prefill_compute = {0.237, 0.350, 0.448, 0.512, 0.550, 0.568},
    .all_reduce_us = {{{5.3, 6.6, 10.7, 25, 126, 389},
                       {5.9, 11, 16, 34, 164, 480},
                       {6.5, 17, 22, 45, 214, 594}}},
};
constexpr Efficiency kL40S = {
    .gemm_bandwidth = 0.795,
    .gemm_compute = {0.214, 0.398, 0.601, 0.639, 0.644, 0.613, 0.558, 0.546},
    .fp8_bandwidth = 0.70,
    .fp8_compute = 0.45,
    .decode_bandwidth = 0.821,
    .decode_floor_us = 16,
    .prefill_compute = {0.249, 0.353, 0.419, 0.465, 0.492, 0.500},
    .all_reduce_us = {{{6, 18, 60, 229, 892, 3542},
                       {17, 116, 361, 1649, 6676, 26700},
                       {27, 207, 583, 4015, 15806, 63200}}},
};
constexpr Efficiency kB200 = {
    .gemm_bandwidth = 0.60,
    .gemm_compute = {0.247, 0.414, 0.582, 0.638, 0.676, 0.688, 0.688, 0.693},
    .fp8_bandwidth = 0.28,
    .fp8_compute = 0.375,
    .decode_bandwidth = 0.890,
    .decode_floor_us = 14,
    .prefill_compute = {0.114, 0.200, 0.312, 0.423, 0.499, 0.545},
    .all_reduce_us = {{{8, 12, 15, 24, 55, 200},
                       {8, 18, 16, 25, 59, 210},
                       {8.1, 26, 17, 26, 63, 223}}},
};

}  // namespace

const std::vector<Gpu>& known_gpus() {
  constexpr auto kMeasured = Origin::kMeasured;
  constexpr auto kBorrowed = Origin::kBorrowed;
  static const std::vector<Gpu> all = {
      {"h100_sxm", 79.19, 3350, 989, 1978, 450, kMeasured, kH100},
      {"h100_pcie", 80 * kVisible, 2000, 756.5, 1513, 64, kBorrowed, kH100},
      {"h200_sxm", 139.8, 4800, 989, 1978, 450, kMeasured, kH200},
      {"a100_sxm", 80 * kVisible, 2039, 312, 0, 300, kMeasured, kA100},
      {"a100_pcie", 80 * kVisible, 1935, 312, 0, 300, kBorrowed, kA100},
      {"a100_40gb", 40 * kVisible, 1555, 312, 0, 300, kBorrowed, kA100},
      {"b200_sxm", 180 * kVisible, 7700, 2250, 4500, 900, kMeasured, kB200},
      {"b300_sxm", 275 * kVisible, 7750, 2250, 4500, 900, kBorrowed, kB200},
      {"gb200", 186 * kVisible, 8000, 2500, 5000, 900, kBorrowed, kB200},
      {"l4", 24 * kVisible, 300, 121, 242, 32, kBorrowed, kL40S},
      {"l40s", 48 * kVisible, 864, 362, 733, 32, kMeasured, kL40S},
      {"l40", 48 * kVisible, 864, 181, 362, 32, kBorrowed, kL40S},
      {"a10", 24 * kVisible, 600, 125, 0, 32, kBorrowed, kA100},
      {"a30", 24 * kVisible, 933, 165, 0, 100, kBorrowed, kA100},
      {"a40", 48 * kVisible, 696, 149.7, 0, 56, kBorrowed, kA100},
      {"rtx_4090", 24 * kVisible, 1008, 165, 330, 32, kBorrowed, kL40S},
      {"rtx_pro_6000", 96 * kVisible, 1792, 467.8, 935.6, 64, kBorrowed, kL40S},
      {"v100", 32 * kVisible, 900, 112, 0, 150, kBorrowed, kA100},
      {"mi300x", 192 * kVisible, 5300, 1307, 2614, 448, kBorrowed, kH200},
      {"ascend_910b", 64 * kVisible, 1600, 320, 0, 196, kBorrowed, kA100},
  };
  return all;
}

Result<Gpu> find_gpu(std::string_view name) {
  std::string wanted;
  for (const char c : name) wanted += c == '-' ? '_' : lower(c);
  std::string names;
  for (const Gpu& gpu : known_gpus()) {
    if (gpu.name == wanted || gpu.name == wanted + "_sxm") return gpu;
    names += concat(names.empty() ? "" : ", ", gpu.name);
  }
  return fail(ErrorCode::kConfig, concat("no GPU is known as '", name, "'; there are ", names));
}

}  // namespace hw::gpu_model
