#include "net/event.h"

#include <boost/asio/post.hpp>

namespace hw::net {

void Event::raise_later(Signals signals) {
  raised_ |= signals;
  if (!waiter_ || (raised_ & wanted_) == 0) return;
  Waiter waiter = std::move(*waiter_);
  waiter_.reset();
  boost::asio::post(executor_, std::move(waiter));
}

}  // namespace hw::net
