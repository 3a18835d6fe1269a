#include "virtual_gpu/backend.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "virtual_gpu/answer.h"
#include "virtual_gpu/text_tokens.h"

namespace hw::virtual_gpu {

using engine::StepItem;
using engine::StepOutcome;
using engine::StepPlan;
using engine::StepResult;
using gpu_model::StepCost;
using gpu_model::StepLoad;

namespace {

constexpr double kStepBuckets[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                   0.2,   0.5,   1.0,   2.0,  5.0,  10.0};
constexpr double kLateBuckets[] = {0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005,
                                   0.001,   0.002,   0.005,   0.01,   0.1};

// The next token of an answer that has begun, computed alone.
bool is_decode(const StepItem& item) {
  return item.tokens.size() == 1 && !item.output.empty();
}

}  // namespace

PaceMetrics::PaceMetrics(Registry& registry, std::string_view model_id) {
  const Labels labels = {{"engine", "0"}, {"model_name", model_id}};
  predicted = registry.histogram("headway_engine_predicted_step_seconds",
                                 "Time of one step as the GPU model prices it.", labels,
                                 kStepBuckets, kSecondsFromNs);
  late = registry.histogram("headway_engine_step_late_seconds",
                            "By which a step ended after the time that the GPU model gives it.",
                            labels, kLateBuckets, kSecondsFromNs);
}

VirtualGpu::VirtualGpu(StepCost cost, const Settings& settings, const PaceMetrics& metrics)
    : cost_(std::move(cost)), settings_(settings), metrics_(metrics) {}

Nanos VirtualGpu::price(const StepPlan& plan) {
  StepLoad load;
  for (const StepItem& item : plan.items) {
    if (is_decode(item)) {
      StepCost::add_decode(load, item.start);
    } else {
      cost_.add_prefill(load, item.start, static_cast<int>(item.tokens.size()),
                        item.sample ? StepCost::Ends::kYes : StepCost::Ends::kNo);
    }
  }
  return load.tokens > 0 ? cost_.nanos(load) : 0;
}

StepResult VirtualGpu::execute(const StepPlan& plan) {
  StepResult result;
  if (!plan.items.empty()) {
    const Nanos length = predict(plan);
    const Nanos now = monotonic_ns();
    const Nanos begin = now - free_at_ > kHostMax ? now : free_at_;
    free_at_ = begin + length;
    metrics_.predicted.record(length);
    if (!sleep_until(free_at_)) {
      result.outcome = StepOutcome::kInterrupted;
      return result;
    }
    metrics_.late.record(std::max<Nanos>(monotonic_ns() - free_at_, 0));
  }
  for (const StepItem& item : plan.items) {
    if (!item.sample) continue;
    const engine::Token token = answer_token(
        item.sampling->seed, static_cast<int64_t>(item.output.size()), settings_.answer_tokens);
    result.sampled.push_back({item.sequence, token, token == end_token()});
  }
  return result;
}

Nanos VirtualGpu::predict(const StepPlan& plan) {
  return static_cast<Nanos>(static_cast<double>(price(plan)) / settings_.speed);
}

Status VirtualGpu::restart() {
  const std::lock_guard lock(mutex_);
  interrupted_ = false;
  free_at_ = 0;
  return {};
}

void VirtualGpu::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

// False where it was interrupted.
bool VirtualGpu::sleep_until(Nanos end) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC, as ours.
  const std::chrono::steady_clock::time_point when{std::chrono::nanoseconds(end)};
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, when, [this] { return interrupted_; });
}

}  // namespace hw::virtual_gpu
