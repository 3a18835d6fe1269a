// `headway compare`: runs of the sampler against other runs.
#include "base/text.h"
#include "cli/commands.h"
#include "command/comparison_view.h"
#include "command/run_folders.h"
#include "comparison/output.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
using comparison::Report;
using comparison::Run;
using config::Words;
namespace {

constexpr Words kNoRuns = {"headway compare needs --base RUN... and --new RUN...",
                           "headway compare 需要 --base RUN... 与 --new RUN..."};

Result<std::vector<Run>> load(const std::vector<std::string>& folders, comparison::Edited edited) {
  std::vector<Run> out;
  for (const std::string& folder : folders) {
    Result<Run> run = comparison::load_run(folder, edited);
    if (!run) return fail(run.error());
    out.push_back(*std::move(run));
  }
  return out;
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
    print_comparison(report, arguments);
  }
  return exit_of_verdict(report.comparison.verdict);
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
