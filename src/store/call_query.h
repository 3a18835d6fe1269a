// CallQuery: which calls of the log to list, and the page that comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/dialect.h"
#include "timeline/call.h"

namespace hw::store {

// Conditions are joined by "and"; an empty one does not restrict.
struct CallQuery {
  static constexpr int kLimitMax = 1000;
  int limit = 50;                  // calls on the page, 1 to kLimitMax
  std::string before;              // id of a call: those that were stored before it
  std::optional<Outcome> outcome;  // exactly this one
  std::string model;               // as asked for
  std::string key;                 // name of the key
  std::string channel;             // of any attempt
  Nanos since_wall = 0;            // ended at or after this wall time, ns since 1970; 0: any
  Nanos slow_ns = 0;               // total_ns at least this; 0: any
};

// Calls in the order in which they ended, latest first (calls that ended within the same tenth of a
// second on different loops: by their ends). `next` is what to give as `before` for the page that
// follows; empty at the end of the log. A page may be short and have a `next`: a query that matches
// little stops after looking at kScannedMax calls.
struct CallPage {
  static constexpr int kScannedMax = 200'000;
  std::vector<timeline::Call> calls;
  std::string next;
};

}  // namespace hw::store
