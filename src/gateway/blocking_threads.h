// BlockingThreads: the threads of the gateway that may block, apart by what they wait for, so that
// one cause stops nobody else: a locked database does not hold up a look-up of a name.
#pragma once

#include "net/blocking_pool.h"

namespace hw::gateway {

struct BlockingThreads {
  // DNS. A name server that does not answer holds a thread for many seconds; there must be others
  // for the names of other servers.
  net::BlockingPool names{16};
  // What is asked of /api and its like: blocks for moments.
  net::BlockingPool questions{4, 256};
  // What changes something there, one after the other: each may wait for another program's lock
  // for a second, so that few may wait.
  net::BlockingPool changes{1, 8};
};

}  // namespace hw::gateway
