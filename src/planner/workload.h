// Workload: who sends what and when; a closed loop is the first of them.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace hw::planner {

// One request.
struct Job {
  int prompt_tokens = 1;
  int output_tokens = 1;
};

// Draws lengths: uniform in [share · nominal, nominal].
struct Lengths {
  int prompt_tokens = 1;  // nominal
  int output_tokens = 1;
  double prompt_share = 1;  // 1: always nominal
  double output_share = 1;

  // The next one.
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
  virtual void ended(Nanos at) = 0;
};

// So many clients, each of which sends its next request when it has the answer to the one before.
class ClosedLoop final : public Workload {
 public:
  // `jobs` in all, from `clients` at time 0.
  ClosedLoop(int clients, int jobs, const Lengths& lengths, uint64_t seed);
  std::optional<Nanos> next_at() const override;
  Job take() override;
  void ended(Nanos at) override;

 private:
  Lengths lengths_;
  Random random_;
  int left_;
  std::priority_queue<Nanos, std::vector<Nanos>, std::greater<>> free_;  // clients, since when
};

}  // namespace hw::planner
