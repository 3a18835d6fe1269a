#include "planner/measurement.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "gpu_model/catalogue.h"
#include "planner/simulation.h"

namespace hw::planner {
namespace {

using gpu_model::ModelShape;

// Settings of an engine that the rows do not tell.
constexpr int kStepTokens = 8192;  // vLLM's default on these GPUs
constexpr int kSequences = 1024;
constexpr double kUtilisation = 0.9;
constexpr double kReserved = 4.5e9;  // bytes beside weights and KV
constexpr double kShare = 0.8;  // lengths are drawn in [0.8, 1] x nominal, as InferenceMAX does

// Lengths around a nominal one.
workload::Lengths about(int nominal) {
  const int least = std::max(1, static_cast<int>(std::ceil(nominal * kShare)));
  return least < nominal ? workload::Lengths::between(least, nominal) : workload::Lengths(nominal);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t comma = line.find(',');
    out.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return out;
    line.remove_prefix(comma + 1);
  }
}

bool read_real(std::string_view text, double& out) {
  return parse_real(text, out) && out > 0 && out < 1e12;
}

template <class Number>
bool read_count(std::string_view text, Number& out) {
  constexpr Number kMost = 100'000'000;
  return parse_number(text, out) && out > 0 && out <= kMost;
}

bool read_cell(std::string_view column, std::string_view cell, Measurement& row) {
  if (column == "model") row.model = cell;
  if (column == "gpu") row.gpu = cell;
  if (column == "precision") row.precision = cell;
  if (column == "tp") return read_count(cell, row.tensor_parallel);
  if (column == "input_tokens") return read_count(cell, row.input_tokens);
  if (column == "output_tokens") return read_count(cell, row.output_tokens);
  if (column == "concurrency") return read_count(cell, row.concurrency);
  if (column == "kv_blocks") return cell.empty() || read_count(cell, row.kv_blocks);
  if (column == "ttft_mean_ms") return read_real(cell, row.ttft_ms);
  if (column == "tpot_mean_ms") return read_real(cell, row.tpot_ms);
  return true;
}

Result<ModelShape> shape_of(const Measurement& row) {
  Result<ModelShape> shape = gpu_model::find_model(row.model);
  gpu_model::Precision precision{};
  if (!shape.has_value() || row.precision.empty()) return shape;
  if (!parse_precision(row.precision, precision)) {
    return fail(ErrorCode::kConfig, concat("precision '", row.precision, "' is not known"));
  }
  // gpt-oss in "fp4" has its experts in MXFP4 and the rest in BF16, as published.
  if (shape->expert_weights != precision) shape->hold_weights_as(precision);
  return shape;
}

RowKind kind_of(const Measurement& row, const ModelShape& shape, const gpu_model::Gpu& gpu,
                const gpu_model::KvLayout& layout, int64_t pool) {
  const int64_t length = int64_t{row.input_tokens} + row.output_tokens;
  const bool too_many = layout.blocks_of_request(length) * row.concurrency > pool;
  if (too_many || row.ttft_ms > row.tpot_ms * row.output_tokens) return RowKind::kQueued;
  const double tokens = row.concurrency * (row.input_tokens + row.output_tokens / 2.0) * kShare;
  const double weights = shape.experts > 0 ? 0 : shape.weight_bytes() / row.tensor_parallel;
  const double kept = layout.window_groups > 0 ? 0 : tokens * layout.bytes_per_token();
  const double least_ms = (weights + kept) / (gpu.bandwidth_gb_s * 1e6);
  if (row.tpot_ms < least_ms) return RowKind::kTooFast;
  return shape.experts > 0 ? RowKind::kExperts : RowKind::kDense;
}

}  // namespace

Result<std::vector<Measurement>> read_measurements(std::string_view csv) {
  if (csv.size() > kCsvBytesMax) return fail(ErrorCode::kConfig, "the CSV is longer than 16 MiB");
  std::vector<std::string_view> columns;
  std::vector<Measurement> out;
  for (int line = 1; !csv.empty(); ++line) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view text = csv.substr(0, end);
    if (text.ends_with('\r')) text.remove_suffix(1);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (text.empty()) continue;
    const std::vector<std::string_view> cells = cells_of(text);
    if (columns.empty()) {
      columns = cells;
      for (const std::string_view needed : {"model", "gpu", "tp", "input_tokens", "output_tokens",
                                            "concurrency", "ttft_mean_ms", "tpot_mean_ms"}) {
        if (std::find(columns.begin(), columns.end(), needed) == columns.end()) {
          return fail(ErrorCode::kConfig, concat("the CSV has no column ", needed));
        }
      }
      continue;
    }
    if (cells.size() != columns.size() || out.size() == kRowsMax) {
      return fail(ErrorCode::kConfig,
                  concat("line ", line, ": ", cells.size(), " cells, expected ", columns.size()));
    }
    Measurement row;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (read_cell(columns[i], cells[i], row)) continue;
      return fail(ErrorCode::kConfig, concat("line ", line, ": ", columns[i], " is '", cells[i],
                                             "', expected a number above 0"));
    }
    out.push_back(std::move(row));
  }
  if (out.empty()) return fail(ErrorCode::kConfig, "the CSV has no rows");
  return out;
}

Result<Prediction> predict(const Measurement& row, const gpu_model::Scalars& scalars,
                           const Replay& replay) {
  const Result<ModelShape> shape = shape_of(row);
  if (!shape.has_value()) return fail(shape.error());
  const Result<gpu_model::Gpu> gpu = gpu_model::find_gpu(row.gpu);
  if (!gpu.has_value()) return fail(gpu.error());
  gpu_model::KvOptions kv;
  kv.tensor_parallel = row.tensor_parallel;
  const Result<gpu_model::KvLayout> layout = kv_layout(*shape, kv);
  if (!layout.has_value()) return fail(layout.error());
  const auto memory = share_memory(*shape, *gpu, row.tensor_parallel, kUtilisation, kReserved);
  const int64_t length = int64_t{row.input_tokens} + row.output_tokens;
  const int64_t request_blocks = layout->blocks_of_request(length);
  int64_t pool = row.kv_blocks > 0 ? row.kv_blocks : layout->blocks_in(memory.kv);
  if (pool <= request_blocks) return fail(ErrorCode::kConfig, concat(row.model, " does not fit"));
  Prediction out;
  out.kind = kind_of(row, *shape, *gpu, *layout, pool);
  // The scheduler counts blocks of all positions; a pool of groups with windows holds more of them.
  const int64_t plain_blocks = (length + 15) / 16;
  pool = std::max<int64_t>(2, pool * plain_blocks / request_blocks);

  scheduler::Options options;
  options.max_num_seqs = kSequences;
  options.max_num_batched_tokens = kStepTokens;
  options.max_model_len = static_cast<int>(length) + 16;
  options.kv_blocks = std::min<int64_t>(pool, 1 << 24);
  options.token_events = false;
  gpu_model::CostOptions cost_options;
  cost_options.tensor_parallel = row.tensor_parallel;
  gpu_model::StepCost cost(*shape, *gpu, cost_options, scalars);
  const JobLengths lengths = {about(row.input_tokens), about(row.output_tokens)};
  ClosedLoop load(row.concurrency, row.concurrency * replay.requests_per_client, lengths,
                  replay.seed);
  const Outcome outcome = simulate(options, cost, load);
  out.ttft_ms = outcome.mean_ttft_ms();
  out.tpot_ms = outcome.mean_tpot_ms();
  out.requests = static_cast<int64_t>(outcome.seen.size());
  out.steps = outcome.totals.steps;
  return out;
}

}  // namespace hw::planner
