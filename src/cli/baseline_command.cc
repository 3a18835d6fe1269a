// `headway baseline`: runs of the sampler that are kept as what later runs are compared with.
#include "base/text.h"
#include "cli/commands.h"
#include "command/run_folders.h"
#include "comparison/run.h"
#include "json/writer.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using config::Language;
using config::Words;
namespace {

constexpr Words kNoRuns = {"name the runs: --run DIR...", "请指定运行：--run DIR..."};
constexpr Words kExists = {"the baseline exists already; `baseline accept` adds runs to it",
                           "该基线已存在；可用 baseline accept 追加运行"};
constexpr Words kMissing = {"there is no baseline of that name", "没有这个名称的基线"};
constexpr Words kKept = {"{0}: {1} runs kept, {2} of them new",
                         "{0}：共 {1} 次运行，其中新增 {2} 次"};
constexpr Words kNone = {"no baselines yet", "还没有基线"};

enum class Wanted : unsigned char { kNew, kExisting };

Exit keep(const Arguments& arguments, Wanted wanted) {
  comparison::Archive archive = archive_of(arguments);
  const Language language = arguments.language;
  const std::string& name = arguments.operand;
  const auto folders = run_folders(arguments, "run");
  if (folders.empty()) {
    complain(kNoRuns.in(language));
    return Exit::kUsage;
  }
  const bool exists = archive.has(name);
  if (exists && wanted == Wanted::kNew) {
    complain(kExists.in(language));
    return Exit::kUsage;
  }
  if (!exists && wanted == Wanted::kExisting) {
    complain(kMissing.in(language));
    return Exit::kNo;
  }
  const Result<size_t> added = archive.accept(name, folders);
  if (!added) {
    complain(added.error().message);
    return Exit::kUsage;
  }
  if (arguments.has("json")) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("name", name);
    writer.field("runs", archive.runs(name).size());
    writer.field("added", *added);
    writer.end_object();
    print(out + "\n");
    return Exit::kFine;
  }
  const std::vector<std::string> said = {name, std::to_string(archive.runs(name).size()),
                                         std::to_string(*added)};
  note(config::fill(kKept.in(language), said));
  return Exit::kFine;
}

Exit list(const Arguments& arguments) {
  const comparison::Archive archive = archive_of(arguments);
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.key("baselines");
  writer.begin_array();
  std::vector<Row> rows;
  for (const std::string& name : archive.names()) {
    const size_t runs = archive.runs(name).size();
    writer.begin_object();
    writer.field("name", name);
    writer.field("runs", runs);
    writer.end_object();
    rows.push_back({name, std::to_string(runs)});
  }
  writer.end_array();
  writer.end_object();
  if (arguments.has("json")) {
    print(out + "\n");
  } else if (rows.empty()) {
    note(kNone.in(arguments.language));
  } else {
    const bool chinese = arguments.language == Language::kChinese;
    print(render_table(chinese ? Row{"名称", "运行次数"} : Row{"NAME", "RUNS"}, rows,
                       colour_of_output(arguments.environment)));
  }
  return Exit::kFine;
}

// One run's line, in both forms.
void add_run(const std::string& folder, json::Writer& writer, std::vector<Row>& rows) {
  const Result<comparison::Run> run = comparison::load_run(folder, comparison::Edited::kAllowed);
  writer.begin_object();
  writer.field("folder", folder);
  if (!run) {
    writer.field("error", run.error().message);
    rows.push_back({folder, run.error().message});
  } else {
    const std::string started = run->manifest ? run->manifest->started : std::string();
    const size_t requests = run->summary.buckets.front().counts.judged();
    writer.field("started", started);
    writer.field("requests", requests);
    writer.field("edited", run->folder.is_edited());
    rows.push_back({folder, started, std::to_string(requests)});
  }
  writer.end_object();
}

Exit show(const Arguments& arguments) {
  const comparison::Archive archive = archive_of(arguments);
  if (!archive.has(arguments.operand)) {
    complain(kMissing.in(arguments.language));
    return Exit::kNo;
  }
  std::string out;
  json::Writer writer(out);
  std::vector<Row> rows;
  writer.begin_object();
  writer.field("name", arguments.operand);
  writer.key("runs");
  writer.begin_array();
  for (const std::string& folder : archive.runs(arguments.operand)) add_run(folder, writer, rows);
  writer.end_array();
  writer.end_object();
  if (arguments.has("json")) {
    print(out + "\n");
  } else {
    const bool chinese = arguments.language == Language::kChinese;
    print(render_table(
        chinese ? Row{"目录", "开始时间", "请求数"} : Row{"FOLDER", "STARTED", "REQUESTS"}, rows,
        colour_of_output(arguments.environment)));
  }
  return Exit::kFine;
}

const Flag kRuns = {"run", "DIR...", {"Run folders to keep.", "要保留的运行目录。"}};

}  // namespace

Command baseline_save_command() {
  Command out;
  out.name = "baseline save";
  out.operand = "NAME";
  out.summary = {"Keeps runs as a new baseline.", "把若干运行保存为新基线。"};
  out.flags = {kRuns, archive_flag(), json_flag()};
  out.examples = {"headway baseline save main --run runs/a1 runs/a2 runs/a3"};
  out.run = [](const Arguments& arguments) { return keep(arguments, Wanted::kNew); };
  return out;
}

Command baseline_list_command() {
  Command out;
  out.name = "baseline list";
  out.summary = {"Lists the baselines.", "列出基线。"};
  out.flags = {archive_flag(), json_flag()};
  out.examples = {"headway baseline list"};
  out.run = list;
  return out;
}

Command baseline_show_command() {
  Command out;
  out.name = "baseline show";
  out.operand = "NAME";
  out.summary = {"Shows the runs of a baseline.", "显示基线中的运行。"};
  out.flags = {archive_flag(), json_flag()};
  out.examples = {"headway baseline show main"};
  out.run = show;
  return out;
}

Command baseline_accept_command() {
  Command out;
  out.name = "baseline accept";
  out.operand = "NAME";
  out.summary = {"Adds runs to a baseline; nothing else ever moves it.",
                 "向基线追加运行；基线不会自行变动。"};
  out.flags = {kRuns, archive_flag(), json_flag()};
  out.examples = {"headway baseline accept main --run runs/b1"};
  out.run = [](const Arguments& arguments) { return keep(arguments, Wanted::kExisting); };
  return out;
}

}  // namespace hw::cli
