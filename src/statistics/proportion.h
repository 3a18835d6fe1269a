// Two shares of counts: exact test and interval.
#pragma once

#include <cstdint>

namespace hw::statistics {

// `hits` of `n`.
struct Count {
  uint64_t hits = 0;
  uint64_t n = 0;
};

// Fisher's one-sided p of "next's share is not above base's". 1 where a side has no count.
double fisher_p_above(Count base, Count next);

// The difference next - base of the shares.
struct ShareDifference {
  double difference = 0, low = 0, high = 0;
};
// Newcombe's interval (1998, method 10: from Wilson's score intervals) at two-sided `level`.
// Everything possible, [-1, 1], where a side has no count.
ShareDifference newcombe(Count base, Count next, double level);

}  // namespace hw::statistics
