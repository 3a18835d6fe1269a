// One traced HTTP exchange on a connection of its own: sends a request and notes when each step was
// done, what every read brought, and how it ended. Blocking; for the command line.
#pragma once

#include <string>

#include "base/clock.h"
#include "probe/record.h"
#include "probe/request.h"

namespace hw::probe {

// Bounds of one exchange.
struct ExchangeLimits {
  Nanos connect_ns = 10 * kSecond;  // DNS, TCP, tunnel and TLS together
  Nanos silence_ns = 60 * kSecond;  // after the last byte sent or received
  Nanos total_ns = 240 * kSecond;   // from the start: a stream that never ends, ends here
};

// Sends `request`, through `proxy` where its kind is kHttp, and follows the answer to its end. What
// goes wrong is in the result, never an error; nothing is tried again.
Exchange perform(const Request& request, const ProxyChoice& proxy, const ExchangeLimits& limits);

}  // namespace hw::probe
