// ServingFigures: what a run comes to by the definitions of vLLM's serving benchmark, under the
// names that people's scripts look for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/writer.h"
#include "runs/record.h"

namespace hw::sampler {

// One of its four latencies, in milliseconds. Quantiles interpolate linearly between values, as
// numpy does; those of `metrics` in summary.json do not.
struct ServingLatency {
  size_t count = 0;
  double mean = 0, median = 0, standard_deviation = 0, p90 = 0, p95 = 0, p99 = 0;
};

// What a good request keeps, each within so many milliseconds; absent: not asked for. By the
// definitions below.
struct Objectives {
  std::optional<double> ttft_ms, tpot_ms, e2el_ms;
  bool any() const { return ttft_ms || tpot_ms || e2el_ms; }
};
// "ttft:500 tpot:50 e2el:8000", vLLM's syntax. kConfig with what is expected.
Result<Objectives> parse_objectives(std::string_view text);

// The load, for the block's heading lines.
struct ServingLoad {
  std::optional<double> rate;  // requests a second; absent: a closed loop
  size_t concurrency = 0;      // 0: no limit
};

// A finished count.
struct ServingFigures {
  double duration_s = 0;  // from the first request's start to the last one's end
  size_t completed = 0, failed = 0;
  int64_t input_tokens = 0, output_tokens = 0;  // of those completed
  // TTFT from the start of the send, connecting included; TPOT (e2el - ttft) / (tokens - 1), of
  // more than one token; ITL each gap between token events; E2EL to the last token or the usage
  // behind.
  ServingLatency ttft, tpot, itl, e2el;
  // Of those completed, that kept all objectives; absent where none was asked for. An answer of one
  // token has no TPOT and keeps that objective emptily (`good_vacuous` of them).
  std::optional<size_t> good;
  size_t good_vacuous = 0;
  size_t attempted = 0;  // completed, failed and dropped: what a share of good ones is a share of
  // completed or tokens by duration; 0 for a run without duration.
  double request_throughput() const;
  double output_throughput() const;
  double total_token_throughput() const;
};

// Collects requests of the steady phase; others are ignored. Memory: 8 bytes a value.
class ServingCount {
 public:
  explicit ServingCount(const Objectives& objectives = {}) : objectives_(objectives) {
    if (objectives_.any()) sums_.good = 0;
  }

  // Takes one request.
  void add(const runs::Record& record);
  // What it comes to. May be called again after further requests.
  ServingFigures figures() const;

 private:
  void add_completed(const runs::Record& record);
  void count_good(std::optional<double> ttft_ms, std::optional<double> tpot_ms, double e2el_ms,
                  int64_t tokens);

  const Objectives objectives_;
  std::optional<Nanos> first_, last_;
  ServingFigures sums_;
  std::vector<double> ttft_ms_, tpot_ms_, itl_ms_, e2el_ms_;
};

// The fields "duration", "completed", "request_throughput", "mean_ttft_ms", "p99_itl_ms" and so on
// of an object that is open.
void write_serving_fields(json::Writer& writer, const ServingFigures& figures,
                          const ServingLoad& load);

// The block "Serving Benchmark Result", 50 columns wide, with a line end.
std::string serving_block(const ServingFigures& figures, const ServingLoad& load);

}  // namespace hw::sampler
