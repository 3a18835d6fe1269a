// The names in a list that are nearest to one that was not found. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hw::verify {

// At most `count` of `names`, the nearest to `wanted` first: those that contain it or that it
// contains, then by edit distance (Levenshtein, case ignored), then as they come. Names longer than
// 200 bytes count by their first 200.
std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string> names,
                                       size_t count);

}  // namespace hw::verify
