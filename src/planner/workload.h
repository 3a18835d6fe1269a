// Workload: who sends what and when, as a simulation asks for it.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "scheduler/block_hash.h"
#include "workload/arrivals.h"
#include "workload/lengths.h"
#include "workload/trace.h"

namespace hw::planner {

// One request.
struct Job {
  int prompt_tokens = 1;
  int output_tokens = 1;
  std::vector<scheduler::BlockHash> blocks = {};  // of the prompt, for the prefix cache
};

// How long requests are.
struct JobLengths {
  workload::Lengths prompt;
  workload::Lengths output;
  // The next one: the prompt is drawn first.
  Job draw(Random& random) const;
};

// Jobs in the order of their times. The loop of whoever asks is
//
//   while (at = next_at()) { job = take(); ... }        and ended(now) when a job is over
//
// where ended() may make a next_at() that was absent.
class Workload {
 public:
  virtual ~Workload() = default;
  // When the next job is sent, as far as is known; absent: none is, until one ends or for ever.
  virtual std::optional<Nanos> next_at() const = 0;
  // That job. Precondition: next_at().
  virtual Job take() = 0;
  // A job's last token reached its client.
  virtual void ended(Nanos) {}
  // Whether the end of a job can bring another one.
  virtual bool waits_for_answers() const { return false; }
  // Jobs in all.
  virtual int64_t size() const = 0;
};

// So many clients, each of which sends its next request when it has the answer to the one before.
class ClosedLoop final : public Workload {
 public:
  // `jobs` in all, from `clients` at time 0.
  ClosedLoop(int clients, int64_t jobs, const JobLengths& lengths, uint64_t seed);
  std::optional<Nanos> next_at() const override;
  Job take() override;
  void ended(Nanos at) override;
  bool waits_for_answers() const override { return true; }
  int64_t size() const override { return jobs_; }

 private:
  JobLengths lengths_;
  Random random_;
  int64_t jobs_;
  int64_t left_;
  std::priority_queue<Nanos, std::vector<Nanos>, std::greater<>> free_;  // clients, since when
};

// Clients that know nothing of each other and do not wait for answers.
class OpenLoop final : public Workload {
 public:
  // `jobs` in all. Lengths and times are drawn from seeds of their own, so that one can be changed
  // without the other.
  OpenLoop(const workload::Arrivals& arrivals, int64_t jobs, const JobLengths& lengths,
           uint64_t seed);
  std::optional<Nanos> next_at() const override;
  Job take() override;
  int64_t size() const override { return jobs_; }

 private:
  workload::Arrivals arrivals_;
  JobLengths lengths_;
  Random random_;
  int64_t jobs_;
  int64_t left_;
  Nanos next_ = 0;
};

// A trace as it was, or faster.
class TraceReplay final : public Workload {
 public:
  // Times are divided by `speed`, above 0. `rows` outlive it.
  TraceReplay(std::span<const workload::TraceRow> rows, double speed)
      : rows_(rows), speed_(speed) {}
  std::optional<Nanos> next_at() const override;
  Job take() override;
  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }

 private:
  std::span<const workload::TraceRow> rows_;
  double speed_;
  size_t next_ = 0;
};

}  // namespace hw::planner
