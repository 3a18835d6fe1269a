#include "planner/simulation.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace hw::planner {
namespace {

constexpr Nanos kNever = std::numeric_limits<Nanos>::max();

// A job between its client and the engine.
struct OnTheWay {
  Nanos at = 0;  // reaches the engine
  scheduler::RequestNumber number = 0;

  bool operator>(const OnTheWay& other) const {
    return at != other.at ? at > other.at : number > other.number;
  }
};

// The event loop. What happens next is the earliest of: a job is sent, a job reaches the engine, a
// step begins; in this order where they fall together.
class Run {
 public:
  Run(const scheduler::Options& options, gpu_model::StepCost& cost, Workload& workload,
      Stretches stretches)
      : instance_(options, cost, stretches), cost_(cost), workload_(workload) {}

  Outcome to_the_end() {
    for (;;) {
      const Nanos sent = workload_.next_at().value_or(kNever);
      const Nanos reached = on_the_way_.empty() ? kNever : on_the_way_.top().at;
      const Nanos step = instance_.next_step_at().value_or(kNever);
      if (sent == kNever && reached == kNever && step == kNever) break;
      if (sent <= std::min(reached, step)) {
        send(sent);
      } else if (reached <= step) {
        deliver();
      } else {
        advance(std::min(sent, reached));
      }
    }
    outcome_.totals = instance_.scheduler().totals();
    return std::move(outcome_);
  }

 private:
  void send(Nanos at) {
    const Job job = workload_.take();
    const scheduler::RequestNumber number = jobs_.size();
    jobs_.push_back(
        {.sent = at, .prompt_tokens = job.prompt_tokens, .output_tokens = job.output_tokens});
    on_the_way_.push({at + cost_.client_ns(job.prompt_tokens), number});
  }

  void deliver() {
    const OnTheWay next = on_the_way_.top();
    on_the_way_.pop();
    scheduler::Request request;
    request.number = next.number;
    request.prompt_tokens = jobs_[next.number].prompt_tokens;
    request.output_tokens_max = jobs_[next.number].output_tokens;
    if (instance_.add(std::move(request), next.at)) return;
    ++outcome_.refused;
    workload_.ended(next.at);
  }

  void advance(Nanos until) {
    ended_.clear();
    instance_.advance(until, ended_);
    for (const Ended& ended : ended_) {
      Seen seen = jobs_[ended.number];
      seen.first_token = ended.first_token;
      seen.last_token = ended.last_token;
      seen.output_tokens = ended.output_tokens;
      seen.preemptions = ended.preemptions;
      outcome_.seen.push_back(seen);
      workload_.ended(ended.last_token);
    }
  }

  Instance instance_;
  gpu_model::StepCost& cost_;
  Workload& workload_;
  std::vector<Seen> jobs_;  // by number
  std::priority_queue<OnTheWay, std::vector<OnTheWay>, std::greater<>> on_the_way_;
  std::vector<Ended> ended_;
  Outcome outcome_;
};

}  // namespace

double Outcome::mean_ttft_ms() const {
  double sum = 0;
  for (const Seen& one : seen) sum += one.ttft_ms();
  return seen.empty() ? 0 : sum / static_cast<double>(seen.size());
}

double Outcome::mean_tpot_ms() const {
  double sum = 0;
  int count = 0;
  for (const Seen& one : seen) {
    if (one.output_tokens < 2) continue;
    sum += one.tpot_ms();
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

Outcome simulate(const scheduler::Options& options, gpu_model::StepCost& cost, Workload& workload,
                 Stretches stretches) {
  return Run(options, cost, workload, stretches).to_the_end();
}

}  // namespace hw::planner
