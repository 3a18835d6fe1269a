// Measured rows against the twin: a table, and one JSON line at its end.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "planner/calibration.h"

namespace {

using hw::planner::Errors;
using hw::planner::Measurement;
using hw::planner::Prediction;

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

const char* remark(hw::planner::RowKind kind) {
  switch (kind) {
    case hw::planner::RowKind::kDense:
    case hw::planner::RowKind::kExperts:
      return "";
    case hw::planner::RowKind::kQueued:
      return "  queued";
    case hw::planner::RowKind::kTooFast:
      return "  too fast";
  }
  return "";
}

void print_row(const Measurement& row, const Prediction& said) {
  std::printf(
      "%-32s %-4s tp%d %5d/%-5d c%-4d  ttft %9.1f %9.1f %+6.1f%%  tpot %7.2f %7.2f %+6.1f%%%s\n",
      row.model.c_str(), row.precision.c_str(), row.tensor_parallel, row.input_tokens,
      row.output_tokens, row.concurrency, row.ttft_ms, said.ttft_ms,
      (said.ttft_ms / row.ttft_ms - 1) * 100, row.tpot_ms, said.tpot_ms,
      (said.tpot_ms / row.tpot_ms - 1) * 100, remark(said.kind));
}

void print_errors(const char* what, const Errors& errors) {
  std::printf("%-16s %4d rows   TTFT %5.1f %%   TPOT %5.1f %%\n", what, errors.rows,
              errors.ttft_mape, errors.tpot_mape);
}

int run(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto rows = hw::planner::read_measurements(text);
  if (!rows.has_value()) {
    std::fprintf(stderr, "%s: %s\n", path, rows.error().message.c_str());
    return 2;
  }
  const double begun = cpu_seconds();
  const auto said = hw::planner::predict_all(*rows, hw::gpu_model::Scalars());
  const double took = cpu_seconds() - begun;
  if (!said.has_value()) {
    std::fprintf(stderr, "%s: %s\n", path, said.error().message.c_str());
    return 2;
  }
  int64_t requests = 0, steps = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    print_row((*rows)[i], (*said)[i]);
    requests += (*said)[i].requests;
    steps += (*said)[i].steps;
  }
  const auto errors = hw::planner::residuals(*rows, *said);
  std::printf("\nmeasured, then the twin; mean absolute errors with the shipped constants:\n");
  print_errors("dense", errors.dense);
  print_errors("with experts", errors.experts);
  print_errors("queued", errors.queued);
  print_errors("too fast", errors.too_fast);
  std::printf(
      "{\"ttft_mape\": %.2f, \"tpot_mape\": %.2f, \"ttft_mape_moe\": %.2f, \"tpot_mape_moe\": "
      "%.2f, "
      "\"ttft_mape_queued\": %.2f, \"tpot_mape_queued\": %.2f, "
      "\"requests_per_cpu_s\": %.0f, \"steps_per_cpu_s\": %.0f}\n",
      errors.dense.ttft_mape, errors.dense.tpot_mape, errors.experts.ttft_mape,
      errors.experts.tpot_mape, errors.queued.ttft_mape, errors.queued.tpot_mape,
      static_cast<double>(requests) / took, static_cast<double>(steps) / took);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 || std::string(words[1]) != "--csv") {
    std::fprintf(stderr, "usage: bench_twin --csv FILE\n");
    return 2;
  }
  return run(words[2]);
}
