#include "scheduler/waiting_queue.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"

namespace hw::scheduler {
namespace {

// For the heap algorithms, whose front is the largest.
bool goes_after(const Sequence* a, const Sequence* b) {
  return goes_before(*b, *a);
}

}  // namespace

bool goes_before(const Sequence& a, const Sequence& b) {
  return std::tuple(a.request.priority, a.arrived, a.number) <
         std::tuple(b.request.priority, b.arrived, b.number);
}

void WaitingQueue::push(Sequence& sequence) {
  sequences_.push_back(&sequence);
  if (policy_ == Policy::kPriority) {
    std::push_heap(sequences_.begin(), sequences_.end(), goes_after);
  }
}

void WaitingQueue::put_back(Sequence& sequence) {
  if (policy_ == Policy::kPriority) return push(sequence);
  sequences_.push_front(&sequence);
}

void WaitingQueue::pop() {
  if (policy_ == Policy::kPriority) {
    std::pop_heap(sequences_.begin(), sequences_.end(), goes_after);
    sequences_.pop_back();
  } else {
    sequences_.pop_front();
  }
}

void WaitingQueue::erase(const Sequence& sequence) {
  const auto found = std::find(sequences_.begin(), sequences_.end(), &sequence);
  HW_ASSERT(found != sequences_.end());
  sequences_.erase(found);
  if (policy_ == Policy::kPriority) {
    std::make_heap(sequences_.begin(), sequences_.end(), goes_after);
  }
}

std::vector<Sequence*> WaitingQueue::ordered() const {
  std::vector<Sequence*> all(sequences_.begin(), sequences_.end());
  if (policy_ == Policy::kPriority) {
    std::sort(all.begin(), all.end(),
              [](const Sequence* a, const Sequence* b) { return goes_before(*a, *b); });
  }
  return all;
}

}  // namespace hw::scheduler
