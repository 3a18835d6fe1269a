// Relay: passes the answer of an attempt on to the client, in the way that its kind needs.
#pragma once

#include "gateway/attempt.h"

namespace hw::gateway {

class Relay {
 public:
  virtual ~Relay() = default;
  // Relays to the end. kFailed where nothing was relayed: another channel may be tried.
  virtual net::Task<Ending> run() = 0;
};

}  // namespace hw::gateway
