#include "planner/workload.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace hw::planner {
namespace {

int draw_length(int nominal, double share, Random& random) {
  const int least = std::max(1, static_cast<int>(std::ceil(nominal * share)));
  if (least >= nominal) return nominal;
  return least + static_cast<int>(random.below(static_cast<uint64_t>(nominal - least + 1)));
}

}  // namespace

Job Lengths::draw(Random& random) const {
  Job out;
  out.prompt_tokens = draw_length(prompt_tokens, prompt_share, random);
  out.output_tokens = draw_length(output_tokens, output_share, random);
  return out;
}

ClosedLoop::ClosedLoop(int clients, int jobs, const Lengths& lengths, uint64_t seed)
    : lengths_(lengths), random_(seed), left_(jobs) {
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

}  // namespace hw::planner
