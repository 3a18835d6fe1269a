#include "net/timers.h"

#include "base/assert.h"

namespace hw::net {

Deadline::~Deadline() {
  if (queued_at_ != kNever) timers_.remove(*this);
}

void Deadline::set(Nanos at) {
  due_ = at;
  if (at >= queued_at_) return;  // queued early enough: looked at again when that fires
  if (queued_at_ != kNever) timers_.remove(*this);
  timers_.push(*this, at);
}

Timers::~Timers() {
  HW_ASSERT(heap_.empty());
}

void Timers::push(Deadline& deadline, Nanos at) {
  deadline.queued_at_ = at;
  heap_.push_back(&deadline);
  sift_up(heap_.size() - 1);
}

void Timers::remove(Deadline& deadline) {
  const size_t at = deadline.position_;
  HW_ASSERT(at < heap_.size() && heap_[at] == &deadline);
  deadline.queued_at_ = Deadline::kNever;
  Deadline* last = heap_.back();
  heap_.pop_back();
  if (last == &deadline) return;
  place(at, last);
  sift_up(at);
  sift_down(last->position_);
}

void Timers::place(size_t at, Deadline* deadline) {
  heap_[at] = deadline;
  deadline->position_ = at;
}

void Timers::sift_up(size_t at) {
  Deadline* moving = heap_[at];
  while (at > 0) {
    const size_t parent = (at - 1) / 2;
    if (heap_[parent]->queued_at_ <= moving->queued_at_) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, moving);
}

void Timers::sift_down(size_t at) {
  Deadline* moving = heap_[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1]->queued_at_ < heap_[child]->queued_at_)
      ++child;
    if (heap_[child]->queued_at_ >= moving->queued_at_) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, moving);
}

void Timers::fire(Nanos now) {
  while (!heap_.empty() && heap_[0]->queued_at_ <= now) {
    Deadline& first = *heap_[0];
    remove(first);
    if (first.due_ == Deadline::kNever) continue;
    if (first.due_ > now) {
      push(first, first.due_);
      continue;
    }
    first.due_ = Deadline::kNever;
    first.on_deadline();
  }
}

}  // namespace hw::net
