#include "statistics/multiplicity.h"

#include <algorithm>
#include <numeric>

namespace hw::statistics {
namespace {

std::vector<size_t> ascending(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p) {
  const std::vector<size_t> order = ascending(p);
  std::vector<double> out(p.size());
  double highest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double scaled = p[order[i]] * static_cast<double>(p.size() - i);
    highest = std::max(highest, std::min(1.0, scaled));
    out[order[i]] = highest;
  }
  return out;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<size_t> order = ascending(p);
  std::vector<double> out(p.size());
  double lowest = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const double scaled = p[order[i]] * static_cast<double>(p.size()) / static_cast<double>(i + 1);
    lowest = std::min(lowest, scaled);
    out[order[i]] = lowest;
  }
  return out;
}

}  // namespace hw::statistics
