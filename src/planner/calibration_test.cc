#include "planner/calibration.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "base/text.h"

namespace hw::planner {
namespace {

constexpr std::string_view kHead =
    "model,gpu,precision,tp,input_tokens,output_tokens,concurrency,ttft_mean_ms,tpot_mean_ms\n";

Replay short_replay() {
  Replay out;
  out.requests_per_client = 3;
  return out;
}

Measurement row_of(std::string_view model, int tp, int concurrency) {
  Measurement row;
  row.model = model;
  row.gpu = "h100_sxm";
  row.tensor_parallel = tp;
  row.input_tokens = 512;
  row.output_tokens = 64;
  row.concurrency = concurrency;
  row.ttft_ms = 100;  // neither is queued nor too fast
  row.tpot_ms = 100;
  return row;
}

TEST_CASE("a CSV is read by the names of its columns, in any order and with CRLF") {
  const auto rows = read_measurements(
      "tpot_mean_ms,ttft_mean_ms,concurrency,output_tokens,input_tokens,tp,gpu,model,extra\r\n"
      "18.5,154.25,8,128,1024,2,h100_sxm,Qwen/Qwen3-32B,x\r\n\r\n");
  REQUIRE(rows.has_value());
  REQUIRE(rows->size() == 1);
  CHECK(rows->front().model == "Qwen/Qwen3-32B");
  CHECK(rows->front().tensor_parallel == 2);
  CHECK(rows->front().ttft_ms == 154.25);
  CHECK(rows->front().tpot_ms == 18.5);
}

TEST_CASE("a bad CSV is refused with its line and what was expected") {
  CHECK_FALSE(read_measurements("").has_value());
  CHECK_FALSE(read_measurements("model,gpu\nx,y\n").has_value());
  const auto bad = read_measurements(concat(kHead, "m,g,,2,1024,128,0,1.5,2\n"));
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().message.find("line 2: concurrency") != std::string::npos);
  CHECK_FALSE(read_measurements(concat(kHead, "m,g,,2,1024,128\n")).has_value());
  CHECK_FALSE(read_measurements(concat(kHead, "m,g,,2,1024,128,8,nan,2\n")).has_value());
}

TEST_CASE("what does not fit or is not known is refused, not predicted") {
  CHECK_FALSE(predict(row_of("Llama-3.1-405B", 1, 1), {}).has_value());
  CHECK_FALSE(predict(row_of("nobody/knows-1B", 1, 1), {}).has_value());
}

TEST_CASE("a row's kind is told by its pool and by its own numbers") {
  Measurement row = row_of("Llama-3.1-8B", 1, 16);
  CHECK(predict(row, {}, short_replay())->kind == RowKind::kDense);
  row.kv_blocks = 200;  // 16 x 36 blocks are wanted
  CHECK(predict(row, {}, short_replay())->kind == RowKind::kQueued);
  row.kv_blocks = 0;
  row.tpot_ms = 1;  // 16 GB in a millisecond
  row.ttft_ms = 10;
  CHECK(predict(row, {}, short_replay())->kind == RowKind::kTooFast);
  CHECK(predict(row_of("gpt-oss-20b", 1, 4), {}, short_replay())->kind == RowKind::kExperts);
}

TEST_CASE("fitting to rows that other constants made halves the error or so, within the bounds") {
  gpu_model::Scalars truth;
  truth.client_ms = 40;
  truth.step_us = 2000;
  std::vector<Measurement> rows;
  for (const int concurrency : {1, 4, 16}) {
    for (const std::string_view model : {"Llama-3.1-8B", "Qwen3-32B"}) {
      Measurement row = row_of(model, 2, concurrency);
      const auto said = predict(row, truth, short_replay());
      row.ttft_ms = said->ttft_ms;
      row.tpot_ms = said->tpot_ms;
      rows.push_back(row);
    }
  }
  FitOptions options;
  options.replay = short_replay();
  options.passes = 3;
  const auto before = residuals(rows, *predict_all(rows, {}, options.replay)).dense;
  const auto fitted = fit(rows, {}, options);
  REQUIRE(fitted.has_value());
  const auto after = residuals(rows, *predict_all(rows, *fitted, options.replay)).dense;
  CHECK(after.rows == 6);
  CHECK(after.ttft_mape < before.ttft_mape / 1.5);
  CHECK(after.tpot_mape < before.tpot_mape / 1.5);
  for (const auto& bound : gpu_model::kScalarBounds) {
    CHECK((*fitted).*bound.member >= bound.least);
    CHECK((*fitted).*bound.member <= bound.most);
  }
}

TEST_CASE("a fold's rows do not teach the scalars that predict them") {
  std::vector<Measurement> rows = {row_of("Llama-3.1-8B", 1, 4), row_of("Llama-3.1-8B", 2, 4)};
  FitOptions options;
  options.replay = short_replay();
  options.passes = 1;
  std::set<std::string> folds;
  options.on_fold = [&](const std::string& name) { folds.insert(name); };
  const auto first = predict_out_of_fold(rows, {}, options);
  REQUIRE(first.has_value());
  CHECK(folds.size() == 2);
  rows[0].ttft_ms *= 1.5;  // seen by the other fold alone
  const auto second = predict_out_of_fold(rows, {}, options);
  CHECK((*second)[0].ttft_ms == (*first)[0].ttft_ms);
  CHECK((*second)[1].ttft_ms != (*first)[1].ttft_ms);
}

}  // namespace
}  // namespace hw::planner
