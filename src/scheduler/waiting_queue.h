// WaitingQueue: who is to be admitted next.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "scheduler/options.h"
#include "scheduler/sequence.h"

namespace hw::scheduler {

// Whether `a` goes before `b` by Policy::kPriority: (priority, arrived, number), lower first.
bool goes_before(const Sequence& a, const Sequence& b);

// In the order of arrival with those put back in front, or ordered by goes_before().
class WaitingQueue {
 public:
  explicit WaitingQueue(Policy policy) : policy_(policy) {}

  // Behind all others, or where its priority puts it.
  void push(Sequence& sequence);
  // Before all others, or where its priority puts it; for preempted ones.
  void put_back(Sequence& sequence);
  // The next one. Only while it is not empty.
  Sequence& front() const { return *sequences_.front(); }
  void pop();
  // Takes one out wherever it is; linear.
  void erase(const Sequence& sequence);

  // Whether and how many wait.
  bool empty() const { return sequences_.empty(); }
  size_t size() const { return sequences_.size(); }
  // In the order of admission for kFcfs; unordered but for the first for kPriority.
  const std::deque<Sequence*>& all() const { return sequences_; }
  // In the order of admission.
  std::vector<Sequence*> ordered() const;

 private:
  Policy policy_;
  std::deque<Sequence*> sequences_;  // kPriority: a heap
};

}  // namespace hw::scheduler
