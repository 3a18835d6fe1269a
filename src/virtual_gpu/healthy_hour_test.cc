// An hour of traffic that nothing is wrong with, under a virtual clock, shown to the watchdog.
#include <doctest/doctest.h>

#include <cmath>

#include "base/log.h"
#include "base/random.h"
#include "engine/self_check.h"
#include "gpu_model/catalogue.h"
#include "gpu_model/cost.h"
#include "scheduler/scheduler.h"

using namespace hw;
using gpu_model::StepCost;

namespace {

// Requests a second that this instance just keeps up with: TTFT at P99 is 0.4 s at 20, 1.5 s at 22
// and grows without end at 24 (`headway plan run --rate 22 --isl 200..1800 --osl 20..180`).
constexpr double kKnee = 22;

// Draws the load, prices the steps, and counts what the watchdog says.
class Hour {
 public:
  explicit Hour(double per_second) : per_second_(per_second) {}

  int64_t alarms() {
    Nanos next = gap();
    while (now_ < 3600 * kSecond) {
      for (; next <= now_; next += gap()) add(next);
      const scheduler::StepPlan& plan = scheduler_.schedule(now_);
      look(plan.wake);
      if (plan.items.empty()) {
        now_ = std::max(now_ + kMillisecond, std::min(next, plan.wake.value_or(next)));
      } else {
        step(plan);
      }
      scheduler_.take_events(events_);
      for (const scheduler::Event& event : events_) {
        const auto reason = static_cast<size_t>(event.sequence->finish_reason);
        if (event.kind == scheduler::Event::Kind::kFinished) metrics_.finished[reason].add();
      }
    }
    int64_t sum = 0;
    for (int i = 0; i < watchdog::kSignatureCount; ++i) {
      // An hour goes by in a second here, and the process's memory with it.
      const auto signature = static_cast<watchdog::Signature>(i);
      if (signature == watchdog::Signature::kMemoryGrowth) continue;
      sum += metrics_.alarms[static_cast<size_t>(i)].value();
    }
    return sum;
  }
  int64_t answered() const { return metrics_.completions(); }
  int64_t steps() const { return scheduler_.totals().steps; }

 private:
  static scheduler::Options options() {
    scheduler::Options out;
    out.max_num_seqs = 64;
    out.max_num_batched_tokens = 2048;
    out.max_model_len = 4096;
    out.kv_blocks = 6000;
    out.token_events = false;
    out.request_timeout_ns = 120 * kSecond;
    return out;
  }

  Nanos gap() { return static_cast<Nanos>(-std::log(1 - random_.unit()) / per_second_ * 1e9); }

  void add(Nanos at) {
    scheduler::Request request;
    request.number = ++number_;
    request.prompt_tokens = 200 + static_cast<int>(random_.below(1601));
    request.output_tokens_max = 20 + static_cast<int>(random_.below(161));
    request.arrived = at;
    REQUIRE(scheduler_.add(std::move(request)).has_value());
  }

  void look(std::optional<Nanos> wake) {
    if (!check_.due(now_)) return;
    const engine::Healing healing = check_.look(scheduler_, scheduler_.live(), wake, now_);
    CHECK(healing.evict.empty());
    CHECK_FALSE(healing.reclaim);
  }

  // Takes up to a tenth longer or less than it is priced, as steps do.
  void step(const scheduler::StepPlan& plan) {
    gpu_model::StepLoad load;
    for (const scheduler::StepItem& item : plan.items) {
      if (item.decode) {
        StepCost::add_decode(load, item.start);
      } else {
        cost_.add_prefill(load, item.start, item.count,
                          item.sample ? StepCost::Ends::kYes : StepCost::Ends::kNo);
      }
    }
    const Nanos predicted = cost_.nanos(load);
    const auto took =
        static_cast<Nanos>(static_cast<double>(predicted) * (0.9 + 0.2 * random_.unit()));
    now_ += took;
    check_.step_ended(took, predicted);
    scheduler_.apply_blank(now_);
  }

  double per_second_;
  Random random_{5};
  Registry registry_;
  engine::EngineMetrics metrics_{registry_, "m"};
  engine::SelfCheck check_{metrics_};
  scheduler::Scheduler scheduler_{options()};
  StepCost cost_{*gpu_model::find_model("llama-3.1-8b"), *gpu_model::find_gpu("h100"), {}, {}};
  std::vector<scheduler::Event> events_;
  scheduler::RequestNumber number_ = 0;
  Nanos now_ = 0;
};

}  // namespace

TEST_CASE("an hour of healthy traffic raises no alarm, at 0.3, 0.7 and 0.95 of the knee") {
  for (const double share : {0.3, 0.7, 0.95}) {
    CAPTURE(share);
    Hour hour(share * kKnee);
    CHECK(hour.alarms() == 0);
    CHECK(hour.answered() > share * kKnee * 3600 * 0.95);
  }
}
