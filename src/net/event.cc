#include "net/event.h"

#include "net/loop.h"

namespace hw::net {

void Event::raise_later(Signals signals) {
  raised_ |= signals;
  if (!waiter_ || (raised_ & wanted_) == 0) return;
  Resumption waiter = std::move(*waiter_);
  waiter_.reset();
  loop_.resume_later(std::move(waiter));
}

}  // namespace hw::net
