// What a comparison is written as: JSON for programs, JUnit and Markdown for CI.
#pragma once

#include <string>
#include <vector>

#include "comparison/attribution.h"
#include "comparison/preconditions.h"
#include "comparison/verdict.h"
#include "config/language.h"

namespace hw::comparison {

// All that was found.
struct Report {
  Comparison comparison;
  Attribution attribution;
  std::vector<Precondition> preconditions;
};

// compare(), attribute() and check_preconditions() of the same runs.
Report make_report(const std::vector<Run>& base, const std::vector<Run>& next);

// {verdict, method, metrics: [...], attribution, preconditions, ...} with a line feed.
std::string report_json(const Report& report);

// One test case for each judged row; SLOWER is a failure, INCONCLUSIVE and SUSPECTED are skipped.
std::string report_junit(const Report& report);

// A summary as GitHub shows it: verdict, table, attribution, what does not hold.
std::string report_markdown(const Report& report, config::Language language);

}  // namespace hw::comparison
