// Runs made up for tests: a server whose times are known, and changes of it that can be staged.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "comparison/run.h"

namespace hw::comparison {

// The server, its link, and who asks. Milliseconds.
struct Scene {
  double round_trip_ms = 2;
  double queue_ms = 3;
  double prefill_ms_per_token = 0.2;
  double decode_ms_per_token = 8;
  double gateway_ms = 1;
  double long_share = 0.3;  // of requests with 800 input tokens; the others have 100
  double cached_share = 0;  // of input tokens
  double cold_ms = 0;       // on top, for the first tenth
  double error_share = 0;
  bool buffered = false;     // a proxy keeps tokens and sends them all at the end
  bool is_told = true;       // engine and gateway tell their times
  double run_spread = 0.02;  // from run to run, log
  size_t requests = 150;
  int tokens = 6;
};

// Makes runs of a scene, one after another.
class Simulator {
 public:
  explicit Simulator(uint64_t seed) : random_(seed) {}

  Run run(const Scene& scene) {
    RunBuilder builder;
    const double luck = std::exp(scene.run_spread * gaussian());
    for (size_t i = 0; i < scene.requests; ++i) builder.add(request(scene, i, luck));
    return builder.finish();
  }

  std::vector<Run> runs(const Scene& scene, size_t count) {
    std::vector<Run> out;
    for (size_t i = 0; i < count; ++i) {
      out.push_back(run(scene));
      out.back().path = "run" + std::to_string(i);
    }
    return out;
  }

 private:
  static Nanos nanos(double ms) { return static_cast<Nanos>(ms * 1e6); }

  // Sum of twelve, near enough for noise.
  double gaussian() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.unit();
    return sum;
  }

  runs::Record request(const Scene& scene, size_t index, double luck) {
    runs::Record record;
    const bool is_long = random_.unit() < scene.long_share;
    const int64_t input = is_long ? 800 : 100;
    record.bucket = is_long ? "long" : "short";
    record.n_in = input, record.n_out = scene.tokens * 2;
    record.cached_tokens = static_cast<int64_t>(scene.cached_share * static_cast<double>(input));
    const double noise = luck * std::exp(0.1 * gaussian());
    const auto computed = static_cast<double>(input - *record.cached_tokens);
    const double prefill = scene.prefill_ms_per_token * computed * noise;
    const double cold = index < scene.requests / 10 ? scene.cold_ms : 0;
    const double queue = scene.queue_ms * noise + cold;
    const double start = 1000.0 * static_cast<double>(index);
    record.t_sched = record.t_disp = record.t_conn0 = record.t_dns = nanos(start);
    record.t_tcp = nanos(start + scene.round_trip_ms);
    record.reused = index > 0;
    record.t_tx0 = record.t_tx1 = record.t_tcp;
    if (random_.unit() < scene.error_share) {
      record.outcome = runs::RequestOutcome::kHttpError;
      return record;
    }
    double at = start + 2 * scene.round_trip_ms + scene.gateway_ms + queue + prefill;
    const double decode = scene.decode_ms_per_token * 2 * luck;
    const double held = scene.buffered ? decode * (scene.tokens - 1) : 0;
    for (int i = 0; i < scene.tokens; ++i) {
      runs::TokenEvent token;
      const double step = scene.buffered ? 0.01 * i : decode * i * (1 + 0.01 * gaussian() / 6);
      token.at = nanos(at + held + step);
      token.events_in_read = scene.buffered ? 6 : 1;
      if (!record.tokens.empty()) token.at = std::max(token.at, record.tokens.back().at);
      record.tokens.push_back(token);
    }
    record.t_done = record.tokens.back().at;
    if (scene.is_told) {
      record.engine.queue_ns = nanos(queue), record.engine.prefill_ns = nanos(prefill);
      const auto own = std::to_string(nanos(scene.gateway_ms));
      const auto ttft = std::to_string(nanos(scene.gateway_ms + queue + prefill));
      record.gateway_call = R"({"ttft_ns":)" + ttft +
                            R"(,"stages":[{"stage":"route","start_ns":0,"end_ns":)" + own + "}]}";
    }
    return record;
  }

  Random random_;
};

}  // namespace hw::comparison
