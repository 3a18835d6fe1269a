// Signatures: traces that certain changes leave in the records, each with its numbers.
#pragma once

#include <vector>

#include "comparison/attribution.h"

namespace hw::comparison {

// Those that are stronger in `next` than in `base` by more than noise explains.
std::vector<Evidence> find_signatures(const std::vector<Run>& base, const std::vector<Run>& next);

}  // namespace hw::comparison
