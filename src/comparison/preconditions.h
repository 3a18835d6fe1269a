// Preconditions: what must hold for a comparison to mean something, checked and told beside it.
#pragma once

#include <string>
#include <vector>

#include "comparison/run.h"
#include "config/language.h"

namespace hw::comparison {

// One of them. `detail` says what was found, in both languages' common form: names and numbers.
struct Precondition {
  enum class State : unsigned char { kHolds, kFails, kUnknown };
  std::string name;     // "fingerprint", "offered_rate", ...
  config::Words title;  // for people
  State state = State::kUnknown;
  std::string detail;
};

// "holds", "fails", "unknown".
std::string_view state_name(Precondition::State state);

// manifest, content, fingerprint, offered_rate, client, stationarity, censoring, samples and
// output_length, in this order.
std::vector<Precondition> check_preconditions(const std::vector<Run>& base,
                                              const std::vector<Run>& next);

}  // namespace hw::comparison
