#include "planner/workload.h"

#include <algorithm>

#include "base/assert.h"

namespace hw::planner {
namespace {

constexpr int kHashesPerTraceBlock = workload::kTraceBlockTokens / scheduler::kBlockTokens;

// The engine's blocks in the trace's, which are four times as many and more; only whole ones.
std::vector<scheduler::BlockHash> hashes_of(const workload::TraceRow& row) {
  std::vector<scheduler::BlockHash> out;
  const size_t whole = static_cast<size_t>(row.input_tokens / scheduler::kBlockTokens);
  out.reserve(std::min(whole, row.blocks.size() * kHashesPerTraceBlock));
  for (const uint64_t block : row.blocks) {
    for (uint64_t part = 1; part <= kHashesPerTraceBlock && out.size() < whole; ++part) {
      out.push_back({block, part});  // all zeros would be no hash
    }
  }
  return out;
}

}  // namespace

Job JobLengths::draw(Random& random) const {
  Job out;
  out.prompt_tokens = prompt.draw(random);
  out.output_tokens = output.draw(random);
  return out;
}

ClosedLoop::ClosedLoop(int clients, int64_t jobs, const JobLengths& lengths, uint64_t seed)
    : lengths_(lengths), random_(seed), jobs_(jobs), left_(jobs) {
  HW_ASSERT(clients > 0 && jobs >= 0);
  for (int i = 0; i < clients; ++i) free_.push(0);
}

std::optional<Nanos> ClosedLoop::next_at() const {
  if (left_ == 0 || free_.empty()) return std::nullopt;
  return free_.top();
}

Job ClosedLoop::take() {
  HW_ASSERT(left_ > 0 && !free_.empty());
  free_.pop();
  --left_;
  return lengths_.draw(random_);
}

void ClosedLoop::ended(Nanos at) {
  free_.push(at);
}

OpenLoop::OpenLoop(const workload::Arrivals& arrivals, int64_t jobs, const JobLengths& lengths,
                   uint64_t seed)
    : arrivals_(arrivals), lengths_(lengths), random_(seed), jobs_(jobs), left_(jobs) {
  HW_ASSERT(jobs >= 0);
  next_ = arrivals_.next();
}

std::optional<Nanos> OpenLoop::next_at() const {
  if (left_ == 0) return std::nullopt;
  return next_;
}

Job OpenLoop::take() {
  HW_ASSERT(left_ > 0);
  --left_;
  next_ = arrivals_.next();
  return lengths_.draw(random_);
}

std::optional<Nanos> TraceReplay::next_at() const {
  if (next_ == rows_.size()) return std::nullopt;
  return static_cast<Nanos>(static_cast<double>(rows_[next_].at) / speed_);
}

Job TraceReplay::take() {
  HW_ASSERT(next_ < rows_.size());
  const workload::TraceRow& row = rows_[next_++];
  return {row.input_tokens, row.output_tokens, hashes_of(row)};
}

}  // namespace hw::planner
