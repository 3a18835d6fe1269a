// Verdict: what one record comes to: findings, a mark for each step, and one word. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/record.h"
#include "verify/finding.h"

namespace hw::verify {

// How a step went.
enum class Mark : uint8_t {
  kFine,
  kRemark,
  kFailed,
  kSkipped,  // not needed, or not reached
};
// "ok", "remark", "failed", "skipped"; stable.
std::string_view mark_name(Mark mark);

// One step with what was measured there.
struct StepResult {
  Step step;
  Mark mark = Mark::kSkipped;
  Sentence measured;  // may be empty
};

// The one word.
enum class Conclusion : uint8_t {
  kFine,
  kRemarks,      // works, with something to look at
  kFailed,       // does not work
  kUnreachable,  // the endpoint could not be reached
  kUnusable,     // the base URL is none: nothing was sent
};
// "fine", "remarks", "failed", "unreachable", "unusable"; stable.
std::string_view conclusion_name(Conclusion conclusion);
// A sentence for people.
std::string_view conclusion_words(config::Language language, Conclusion conclusion);

struct Verdict {
  Conclusion conclusion = Conclusion::kFine;
  std::vector<Finding> findings;  // failures first, then in the order of their steps
  std::vector<StepResult> steps;  // all, in order
};

// Judges `record`.
Verdict conclude(const probe::Record& record);

}  // namespace hw::verify
