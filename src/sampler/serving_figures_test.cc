#include "sampler/serving_figures.h"

#include <doctest/doctest.h>

namespace hw::sampler {
namespace {

using runs::Record;
using runs::RequestOutcome;

// Sent at `from` ms over a connection begun 2 ms before, first token after `ttft` ms, then gaps of
// 10 ms.
Record answered(int64_t from, int64_t ttft, int tokens) {
  Record out;
  const Nanos sent = from * kMillisecond;
  out.t_sched = out.t_disp = out.t_conn0 = sent - 2 * kMillisecond;
  out.t_tx0 = sent;
  for (int i = 0; i < tokens; ++i) {
    runs::TokenEvent token;
    token.at = sent + (ttft + 10 * i) * kMillisecond;
    out.tokens.push_back(token);
  }
  out.t_close = out.tokens.back().at;
  out.n_in = 5;
  out.n_out = tokens;
  return out;
}

std::string json_of(const ServingFigures& figures) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  write_serving_fields(writer, figures, {});
  writer.end_object();
  return out;
}

TEST_CASE("latencies follow vLLM: connecting counts, quantiles interpolate") {
  ServingCount count;
  count.add(answered(100, 18, 5));
  count.add(answered(200, 38, 3));
  const ServingFigures figures = count.figures();
  CHECK(figures.completed == 2);
  CHECK(figures.ttft.mean == doctest::Approx(30));
  CHECK(figures.ttft.median == doctest::Approx(30));
  CHECK(figures.ttft.p95 == doctest::Approx(39));
  CHECK(figures.tpot.mean == doctest::Approx(10));
  CHECK(figures.itl.count == 6);
  CHECK(figures.e2el.mean == doctest::Approx(60));
  CHECK(figures.output_tokens == 8);
  CHECK(figures.duration_s == doctest::Approx(0.160));
}

TEST_CASE("what does not exist is null, and failures are no latencies") {
  ServingCount count;
  Record failed = answered(100, 18, 1);
  failed.outcome = RequestOutcome::kStreamError;
  count.add(failed);
  const ServingFigures figures = count.figures();
  CHECK(figures.failed == 1);
  CHECK(figures.ttft.count == 0);
  CHECK(json_of(figures).find("\"mean_ttft_ms\":null") != std::string::npos);
  CHECK(json_of(figures).find("\"request_goodput\":null") != std::string::npos);
}

TEST_CASE("a good request keeps every objective; failed and dropped ones count as not good") {
  ServingCount count(*parse_objectives("ttft:30 tpot:15"));
  count.add(answered(100, 18, 5));  // good
  count.add(answered(200, 38, 3));  // late
  count.add(answered(300, 18, 1));  // of one token: no TPOT to miss
  Record dropped = answered(400, 18, 1);
  dropped.outcome = RequestOutcome::kDropped;
  count.add(dropped);
  Record failed = dropped;
  failed.outcome = RequestOutcome::kTimeout;
  count.add(failed);
  const ServingFigures figures = count.figures();
  CHECK(figures.good == 2);
  CHECK(figures.good_vacuous == 1);
  CHECK(figures.attempted == 5);
  CHECK(json_of(figures).find("\"good_request_fraction\":0.4") != std::string::npos);
}

TEST_CASE("objectives that cannot be read are told") {
  for (const std::string_view text : {"ttft", "ttft:", "ttft:x", "itl:5", "ttft:-1", "ttft:nan"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_objectives(text).has_value());
  }
  CHECK(parse_objectives("  ttft:1   e2el:2.5 ")->e2el_ms == 2.5);
}

TEST_CASE("the block has vLLM's lines, 50 columns wide") {
  ServingCount count;
  count.add(answered(100, 18, 5));
  const std::string block = serving_block(count.figures(), {5.0, 8});
  CHECK(block.find("============ Serving Benchmark Result ============\n") == 0);
  CHECK(block.find("Successful requests:                     1         \n") != std::string::npos);
  CHECK(block.find("Request rate configured (RPS):           5.00      \n") != std::string::npos);
  CHECK(block.find("Median TTFT (ms):                        20.00     \n") != std::string::npos);
}

}  // namespace
}  // namespace hw::sampler
