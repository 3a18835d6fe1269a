#include "planner/simulation.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>

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

void add(scheduler::Waits& sum, const scheduler::Waits& waits) {
  for (size_t i = 0; i < sum.ns.size(); ++i) {
    sum.ns[i] += waits.ns[i];
    sum.steps[i] += waits.steps[i];
  }
}

void add(scheduler::Totals& sum, const scheduler::Totals& totals) {
  sum.steps += totals.steps;
  sum.prefill_tokens += totals.prefill_tokens;
  sum.decode_tokens += totals.decode_tokens;
  sum.sampled_tokens += totals.sampled_tokens;
  sum.preemptions += totals.preemptions;
  sum.cache_queried_tokens += totals.cache_queried_tokens;
  sum.cache_hit_tokens += totals.cache_hit_tokens;
  add(sum.held, totals.held);
}

void add(Work& sum, const Work& work) {
  sum.busy += work.busy;
  sum.longest_step = std::max(sum.longest_step, work.longest_step);
  sum.blocks_most = std::max(sum.blocks_most, work.blocks_most);
  sum.mixed_steps += work.mixed_steps;
  sum.gaps.add(work.gaps);
}

// The event loop. What happens next is the earliest of: a job is sent, a job reaches its engine, a
// step begins; in this order where they fall together.
class Run {
 public:
  Run(const scheduler::Options& options, gpu_model::StepCost& cost, Workload& workload,
      const RunOptions& run)
      : cost_(cost), workload_(workload), run_(run) {
    for (int i = 0; i < run.instances; ++i) instances_.emplace_back(options, cost, run.stretches);
    outstanding_.resize(instances_.size());
  }

  Outcome to_the_end() {
    for (;;) {
      const Nanos sent = workload_.next_at().value_or(kNever);
      const Nanos reached = on_the_way_.empty() ? kNever : on_the_way_.top().at;
      const size_t next = next_instance();
      const Nanos step = step_at(next);
      if (sent == kNever && reached == kNever && step == kNever) break;
      if (sent <= std::min(reached, step)) {
        send(sent);
      } else if (reached <= step) {
        deliver();
      } else {
        advance(next, std::min(sent, reached));
      }
    }
    for (const Instance& instance : instances_) {
      add(outcome_.totals, instance.scheduler().totals());
      add(outcome_.work, instance.work());
    }
    return std::move(outcome_);
  }

 private:
  Nanos step_at(size_t instance) const {
    return instances_[instance].next_step_at().value_or(kNever);
  }

  size_t next_instance() const {
    size_t next = 0;
    for (size_t i = 1; i < instances_.size(); ++i) {
      if (step_at(i) < step_at(next)) next = i;
    }
    return next;
  }

  void send(Nanos at) {
    Job job = workload_.take();
    const scheduler::RequestNumber number = jobs_.size();
    jobs_.push_back(
        {.sent = at, .prompt_tokens = job.prompt_tokens, .output_tokens = job.output_tokens});
    on_the_way_.push({at + cost_.client_ns(job.prompt_tokens), number});
    if (!job.blocks.empty()) blocks_.emplace(number, std::move(job.blocks));
  }

  void deliver() {
    const OnTheWay next = on_the_way_.top();
    on_the_way_.pop();
    scheduler::Request request;
    request.number = next.number;
    request.prompt_tokens = jobs_[next.number].prompt_tokens;
    request.output_tokens_max = jobs_[next.number].output_tokens;
    if (const auto found = blocks_.find(next.number); found != blocks_.end()) {
      request.prompt_hashes = std::move(found->second);
      blocks_.erase(found);
    }
    const auto least = std::min_element(outstanding_.begin(), outstanding_.end());
    const auto to = static_cast<size_t>(least - outstanding_.begin());
    if (instances_[to].add(std::move(request), next.at)) {
      ++outstanding_[to];
      return;
    }
    ++outcome_.refused;
    workload_.ended(next.at);
  }

  void advance(size_t index, Nanos until) {
    // An answer of another instance may end, and bring a job, before this one has come far.
    if (workload_.waits_for_answers()) {
      for (size_t i = 0; i < instances_.size(); ++i) {
        if (i != index) until = std::min(until, step_at(i));
      }
    }
    ended_.clear();
    instances_[index].advance(until, ended_);
    for (const Ended& ended : ended_) end(ended);
    outstanding_[index] -= static_cast<int64_t>(ended_.size());
  }

  void end(const Ended& ended) {
    Seen seen = jobs_[ended.number];
    seen.admitted = ended.admitted;
    seen.first_token = ended.first_token;
    seen.last_token = ended.last_token;
    seen.output_tokens = ended.output_tokens;
    seen.preemptions = ended.preemptions;
    seen.cached_tokens = ended.cached_tokens;
    outcome_.seen.push_back(seen);
    workload_.ended(ended.last_token);
    constexpr int64_t kProgressEvery = 256;
    const auto count = static_cast<int64_t>(outcome_.seen.size());
    if (run_.on_progress && count % kProgressEvery == 0) run_.on_progress(count, workload_.size());
  }

  std::deque<Instance> instances_;
  std::vector<int64_t> outstanding_;  // by instance
  gpu_model::StepCost& cost_;
  Workload& workload_;
  const RunOptions& run_;
  std::vector<Seen> jobs_;  // by number
  std::unordered_map<scheduler::RequestNumber, std::vector<scheduler::BlockHash>> blocks_;
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
                 const RunOptions& run) {
  return Run(options, cost, workload, run).to_the_end();
}

}  // namespace hw::planner
