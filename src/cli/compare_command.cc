// `headway compare`: runs of the sampler against other runs.
#include "base/text.h"
#include "cli/commands.h"
#include "command/run_folders.h"
#include "comparison/output.h"
#include "comparison/wording.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using comparison::MetricVerdict;
using comparison::Report;
using comparison::Run;
using config::Language;
using config::Words;
namespace {

constexpr Words kNoRuns = {"headway compare needs --base RUN... and --new RUN...",
                           "headway compare 需要 --base RUN... 与 --new RUN..."};

Exit exit_of(comparison::Verdict verdict) {
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

Result<std::vector<Run>> load(const std::vector<std::string>& folders, comparison::Edited edited) {
  std::vector<Run> out;
  for (const std::string& folder : folders) {
    Result<Run> run = comparison::load_run(folder, edited);
    if (!run) return fail(run.error());
    out.push_back(*std::move(run));
  }
  return out;
}

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

void print_text(const Report& report, const Arguments& arguments) {
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

Status write_reports(const Report& report, const Arguments& arguments) {
  if (arguments.has("junit")) {
    const Status written =
        runs::write_file(arguments.value("junit"), comparison::report_junit(report));
    if (!written) return written;
  }
  if (!arguments.has("markdown")) return {};
  return runs::write_file(arguments.value("markdown"),
                          comparison::report_markdown(report, arguments.language));
}

Exit run(const Arguments& arguments) {
  const auto base_folders = run_folders(arguments, "base");
  const auto new_folders = run_folders(arguments, "new");
  if (base_folders.empty() || new_folders.empty()) {
    complain(kNoRuns.in(arguments.language));
    return Exit::kUsage;
  }
  const auto edited =
      arguments.has("allow-edited") ? comparison::Edited::kAllowed : comparison::Edited::kRefused;
  const Result<std::vector<Run>> base = load(base_folders, edited);
  if (!base) {
    complain(base.error().message);
    return Exit::kUsage;
  }
  const Result<std::vector<Run>> next = load(new_folders, edited);
  if (!next) {
    complain(next.error().message);
    return Exit::kUsage;
  }
  const Report report = comparison::make_report(*base, *next);
  if (const Status written = write_reports(report, arguments); !written) {
    complain(written.error().message);
    return Exit::kUsage;
  }
  if (arguments.has("json")) {
    print(comparison::report_json(report));
  } else {
    print_text(report, arguments);
  }
  return exit_of(report.comparison.verdict);
}

}  // namespace

Command compare_command() {
  Command out;
  out.name = "compare";
  out.operand = "";
  out.summary = {"Says whether new runs are slower than base runs, how sure that is, and why.",
                 "判断新运行是否比基线运行慢、把握多大、原因何在。"};
  out.flags = {
      {"base", "RUN...", {"Run folders, or the name of a baseline.", "运行目录，或基线名称。"}},
      {"new", "RUN...", {"Run folders.", "运行目录。"}},
      {"junit", "FILE", {"Also writes JUnit's XML.", "同时写出 JUnit XML。"}},
      {"markdown", "FILE", {"Also writes a summary in Markdown.", "同时写出 Markdown 摘要。"}},
      {"allow-edited",
       "",
       {"Reads runs that were changed after they were made.", "允许读取事后被改动的运行。"}},
      archive_flag(),
      json_flag()};
  out.examples = {"headway compare --base runs/a1 runs/a2 --new runs/b1 runs/b2",
                  "headway compare --base main --new runs/candidate --junit compare.xml"};
  out.run = run;
  return out;
}

}  // namespace hw::cli
