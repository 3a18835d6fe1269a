#include "gpu_model/kv.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gpu_model/catalogue.h"

namespace hw::gpu_model {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

KvLayout layout(std::string_view model, int tp = 1, KvPrecision precision = KvPrecision::kBf16,
                int block_tokens = 16) {
  KvOptions options;
  options.tensor_parallel = tp;
  options.precision = precision;
  options.block_tokens = block_tokens;
  const auto shape = find_model(model);
  REQUIRE(shape.has_value());
  const auto out = kv_layout(*shape, options);
  REQUIRE(out.has_value());
  return *out;
}

double rounded(double value, double to) {
  return std::round(value / to) * to;
}

TEST_CASE("the article's example is 137.44 GB") {
  const double bytes = plain_kv_bytes(32, 32, 128, 4096, 64, 2);
  CHECK(bytes == 137'438'953'472.0);
}

TEST_CASE("block counts are those of real engines' logs") {
  // Llama-2-7B: 79.19 GiB x 0.90 - 12.55 - 0.16 - 2.38.
  const double left = 79.19 * 0.90 - 12.55 - 0.16 - 2.38;
  CHECK(layout("Llama-2-7b").blocks_in(left * kGib) == 7191);
  // 28 layers, 2 KV heads on a GPU: 71,989 logged, with GiB rounded to two decimals.
  const KvLayout qwen = layout("Qwen2.5-7B", 2);
  CHECK(qwen.blocks_in(30.76 * kGib) == 71'995);
  CHECK(rounded(qwen.concurrency(71'989, 16'384), 0.1) == doctest::Approx(70.3));
  // 613,024 tokens at most 131,072 long.
  CHECK(rounded(layout("Llama-3.1-8B").concurrency(613'024 / 16, 131'072), 0.01) ==
        doctest::Approx(4.68));
}

struct Example {
  std::string_view model;
  int tp;
  KvPrecision precision;
  int block_tokens;
  double kv_gib;
  double bytes_per_token;
  int64_t blocks;
  int64_t length;
  double concurrency;
  double request_gib;
};

constexpr auto kBf16 = KvPrecision::kBf16;
constexpr auto kFp8 = KvPrecision::kFp8;
constexpr auto kLatent = KvPrecision::kFp8Latent;

constexpr Example kExamples[] = {
    {"Llama-2-7b", 1, kBf16, 16, 56.18, 524'288, 7'191, 4'096, 28.09, 2.00},
    {"Llama-2-7b", 1, kBf16, 16, 57.76, 524'288, 7'393, 4'096, 28.88, 2.00},
    {"Llama-3.1-8B", 1, kBf16, 16, 54.15, 131'072, 27'725, 131'072, 3.38, 16.00},
    {"Llama-3.1-8B", 1, kBf16, 16, 55.73, 131'072, 28'536, 131'072, 3.48, 16.00},
    {"Llama-3.1-8B", 1, kFp8, 16, 55.73, 65'536, 57'072, 131'072, 6.97, 8.00},
    {"Llama-3.1-70B", 4, kBf16, 16, 34.92, 81'920, 28'607, 131'072, 3.49, 10.00},
    {"Llama-3.1-70B", 4, kBf16, 16, 36.50, 81'920, 29'904, 131'072, 3.65, 10.00},
    {"Qwen2.5-7B", 1, kBf16, 16, 54.92, 57'344, 64'273, 32'768, 31.38, 1.75},
    {"Qwen2.5-7B", 1, kBf16, 16, 56.50, 57'344, 66'126, 32'768, 32.29, 1.75},
    {"DeepSeek-V3", 8, kBf16, 64, 42.46, 70'272, 10'136, 163'840, 3.96, 10.72},
    {"DeepSeek-V3", 8, kFp8, 64, 42.46, 35'136, 20'272, 163'840, 7.92, 5.36},
    {"DeepSeek-V3", 8, kLatent, 64, 42.46, 40'016, 17'800, 163'840, 6.95, 6.11},
    {"gemma-3-27b", 1, kBf16, 16, 18.26, 81'920, 14'958, 131'072, 1.016, 17.98},
    {"gemma-3-27b", 1, kBf16, 16, 18.26, 81'920, 14'958, 32'768, 1.74, 10.48},
    {"gemma-3-27b", 1, kBf16, 16, 18.26, 81'920, 14'958, 8'192, 4.17, 4.38},
};

TEST_CASE("worked examples of MHA, GQA, MLA and hybrid models come out as they should") {
  for (const Example& example : kExamples) {
    CAPTURE(example.model);
    CAPTURE(example.length);
    const KvLayout kv = layout(example.model, example.tp, example.precision, example.block_tokens);
    CHECK(kv.bytes_per_token() == example.bytes_per_token);
    // Inputs are rounded to 0.01 GiB, which is a few blocks.
    const int64_t blocks = kv.blocks_in(example.kv_gib * kGib);
    CHECK(std::abs(blocks - example.blocks) <= 0.005 * kGib / kv.block_bytes() + 1);
    CHECK(kv.concurrency(example.blocks, example.length) ==
          doctest::Approx(example.concurrency).epsilon(0.002));
    const auto request = static_cast<double>(kv.blocks_of_request(example.length));
    CHECK(request * kv.block_bytes() / kGib == doctest::Approx(example.request_gib).epsilon(0.001));
  }
}

TEST_CASE("a hybrid model's token count is printed as vLLM does") {
  const KvLayout kv = layout("gemma-3-27b");
  for (const auto& [length, logged] :
       {std::pair{131'072, 133'136}, std::pair{32'768, 57'112}, std::pair{8'192, 34'132}}) {
    CHECK(static_cast<int64_t>(kv.concurrency(14'958, length) * length) == logged);
  }
}

TEST_CASE("KV heads are replicated where there are more GPUs than heads") {
  CHECK(layout("Llama-3.1-70B", 16).bytes_per_token() == 40 * 1024);
  CHECK(layout("Llama-3.1-70B", 8).bytes_per_token() == 40 * 1024);
}

TEST_CASE("parallelism that does not divide the heads is refused with the numbers") {
  KvOptions options;
  options.tensor_parallel = 8;
  const auto out = kv_layout(*find_model("Qwen2.5-7B"), options);
  REQUIRE_FALSE(out.has_value());
  CHECK(out.error().message.find("28 heads") != std::string::npos);
}

TEST_CASE("the longest request that fits N times fits N times, and one token more does not") {
  for (const std::string_view model : {"Llama-3.1-8B", "gemma-3-27b", "gpt-oss-120b"}) {
    const KvLayout kv = layout(model);
    for (const int64_t requests : {1, 7, 64}) {
      const int64_t longest = kv.longest_request(20'000, requests, 1 << 30);
      CHECK(kv.blocks_of_request(longest) * requests <= 20'000);
      CHECK(kv.blocks_of_request(longest + 1) * requests > 20'000);
    }
    CHECK(kv.longest_request(20'000, 1, 100) == 100);
    CHECK(kv.longest_request(0, 1, 100) == 0);
  }
}

TEST_CASE("memory is shared as the log of Llama-2-7B has it") {
  const MemoryShare share =
      share_memory(*find_model("Llama-2-7b"), *find_gpu("H100"), 1, 0.90, (0.16 + 2.38) * kGib);
  CHECK(share.weights / kGib == doctest::Approx(12.55).epsilon(0.001));
  CHECK(share.kv / kGib == doctest::Approx(56.18).epsilon(0.001));
}

}  // namespace
}  // namespace hw::gpu_model
