#include "verify/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/text.h"

namespace hw::verify {
namespace {

constexpr size_t kComparedBytesMax = 200;

std::string folded(std::string_view name) {
  std::string out(name.substr(0, kComparedBytesMax));
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string> names,
                                       size_t count) {
  struct Rated {
    size_t rank, distance, place;
  };
  const std::string asked = folded(wanted);
  std::vector<Rated> rated;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = folded(names[i]);
    const bool part =
        !asked.empty() && !name.empty() &&
        (name.find(asked) != std::string::npos || asked.find(name) != std::string::npos);
    rated.push_back(Rated{part ? size_t{0} : size_t{1}, distance(asked, name), i});
  }
  std::sort(rated.begin(), rated.end(), [](const Rated& a, const Rated& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    return a.distance != b.distance ? a.distance < b.distance : a.place < b.place;
  });
  std::vector<std::string> out;
  for (size_t i = 0; i < std::min(count, rated.size()); ++i) out.push_back(names[rated[i].place]);
  return out;
}

}  // namespace hw::verify
