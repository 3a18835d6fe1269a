// How a comparison of runs is told on the terminal, and which exit code it has.
#pragma once

#include "command/command_line.h"
#include "comparison/output.h"

namespace hw::cli {

// The verdict, why, the tables and what does not hold, on standard output.
void print_comparison(const comparison::Report& report, const Arguments& arguments);

// 0 for EQUIVALENT and FASTER, 1 for SLOWER, 4 for INCONCLUSIVE, 5 for SUSPECTED.
Exit exit_of_verdict(comparison::Verdict verdict);

}  // namespace hw::cli
