// Many questions at once: p values corrected so that the family keeps its error rate.
#pragma once

#include <span>
#include <vector>

namespace hw::statistics {

// Adjusted p values in the order given; a family rejected where p <= alpha has at most alpha of
// one false rejection (Holm 1979).
std::vector<double> holm(std::span<const double> p);

// Likewise, but alpha bounds the expected share of false ones among the rejected (Benjamini and
// Hochberg 1995).
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace hw::statistics
