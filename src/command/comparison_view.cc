#include "command/comparison_view.h"

#include "base/text.h"
#include "comparison/wording.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using comparison::MetricVerdict;
using comparison::Report;
using config::Language;
using config::Words;
namespace {

// Two decimals, which is what milliseconds of tokens need.
std::string number(const MetricVerdict& row, double value) {
  return row.metric == "error_rate" ? comparison::percent(value).substr(1) : fixed(value, 2);
}

std::vector<Row> rows_of(const Report& report, comparison::Role role) {
  std::vector<Row> out;
  for (const MetricVerdict& row : report.comparison.rows) {
    if (row.role != role) continue;
    const std::string interval = row.has_interval ? concat("[", comparison::percent(row.low), ", ",
                                                           comparison::percent(row.high), "]")
                                                  : "-";
    out.push_back(
        {row.bucket, concat(row.metric, " ", row.quantile), number(row, row.base),
         number(row, row.next), comparison::percent(row.change), interval,
         row.is_judged ? std::string(comparison::verdict_name(row.verdict)) : row.why_not});
  }
  return out;
}

}  // namespace

void print_comparison(const Report& report, const Arguments& arguments) {
  const Language language = arguments.language;
  const bool chinese = language == Language::kChinese;
  const Colour colour = colour_of_output(arguments.environment);
  print(concat(comparison::verdict_sentence(report.comparison, language), "\n",
               comparison::attribution_sentence(report.attribution, language), "\n"));
  for (const comparison::Evidence& evidence : report.attribution.evidence) {
    print(concat("  ", comparison::evidence_sentence(evidence, language), "\n"));
  }
  const Row header =
      chinese ? Row{"分组", "指标", "基线 ms", "新 ms", "变化", "90% 区间", "结论"}
              : Row{"BUCKET", "METRIC", "BASE ms", "NEW ms", "CHANGE", "90 % INTERVAL", "VERDICT"};
  print(concat("\n", render_table(header, rows_of(report, comparison::Role::kPrimary), colour)));
  const std::vector<Row> shown = rows_of(report, comparison::Role::kShown);
  if (!shown.empty()) {
    print(chinese ? "\n仅供参考，不参与结论：\n" : "\nShown, not part of the verdict:\n");
    print(render_table(header, shown, colour));
  }
  print("\n");
  for (const comparison::Precondition& one : report.preconditions) {
    if (one.state == comparison::Precondition::State::kHolds) continue;
    const bool fails = one.state == comparison::Precondition::State::kFails;
    const Words words =
        fails ? Words{"does not hold: ", "不满足："} : Words{"not known: ", "未知："};
    print(concat(words.in(language), one.title.in(language),
                 one.detail.empty() ? "" : concat(" (", one.detail, ")"), "\n"));
  }
}

Exit exit_of_verdict(comparison::Verdict verdict) {
  switch (verdict) {
    case comparison::Verdict::kEquivalent:
    case comparison::Verdict::kFaster:
      return Exit::kFine;
    case comparison::Verdict::kSlower:
      return Exit::kNo;
    case comparison::Verdict::kInconclusive:
      return Exit::kInconclusive;
    case comparison::Verdict::kSuspected:
      return Exit::kSuspected;
  }
  return Exit::kInconclusive;
}

}  // namespace hw::cli
