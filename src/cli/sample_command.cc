// `headway sample`: measures an endpoint and keeps what it saw.
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <mutex>

#include "app/signals.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/sample_settings.h"
#include "command/comparison_view.h"
#include "command/last_triple.h"
#include "command/run_folders.h"
#include "comparison/run.h"
#include "config/text_width.h"
#include "probe/check.h"
#include "probe/reading.h"
#include "runs/run_folder.h"
#include "sampler/mixed_prompts.h"
#include "sampler/report_text.h"
#include "sampler/session.h"
#include "terminal/output.h"
#include "verify/report.h"
#include "verify/verdict.h"

namespace hw::cli {

using namespace terminal;
using config::Words;
namespace {

// Runs of up to this many requests have a line for each; larger ones tell where they are once a
// second.
constexpr size_t kLinesMax = 500;
constexpr size_t kModelsMax = 1;
constexpr int kFolderTriesMax = 1000;

constexpr Words kNoModel = {"no model is named, and the endpoint lists none: --model NAME",
                            "未指定模型，端点也没有列出模型：请用 --model 指定"};
constexpr Words kPreflightFailed = {"the check request failed; looking for the reason ...",
                                    "预检请求失败，正在查找原因……"};
constexpr Words kSampling = {"{0}, {1}, model {2}: {3}", "{0}，{1}，模型 {2}：{3}"};
constexpr Words kClosed = {"{0} requests, {1} at a time", "{0} 个请求，并发 {1}"};
constexpr Words kOpen = {"{0} requests at {1}/s", "{0} 个请求，每秒 {1} 个"};
constexpr Words kProgress = {"{0} done, {1} under way", "完成 {0}，进行中 {1}"};
constexpr Words kNoBaseline = {"there is no baseline named {0}", "没有名为 {0} 的基线"};
constexpr Words kConfirming = {
    "The run looks different from the baseline: another one, to be sure.",
    "本次运行与基线不同：再运行一次以确认。"};
constexpr Words kTurn = {"Run {0} of {1}: {2}", "第 {0} 次运行，共 {1} 次：{2}"};
constexpr Words kFolder = {"Run folder: {0}", "运行目录：{0}"};

std::string filled(const Words& words, config::Language language,
                   const std::vector<std::string>& arguments) {
  return config::fill(words.in(language), arguments);
}

// Letters that a file's name may have anywhere; others become a dash.
std::string file_name(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_';
    out += plain ? c : '-';
  }
  return out;
}

// A folder of its own for one run: "20260101-120000-label".
Result<std::string> make_run_folder(const std::string& parent, std::string_view label) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  char stamp[32];
  const std::time_t now = static_cast<std::time_t>(wall_ns() / kSecond);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
  const std::string base = concat(parent, "/", stamp, "-", file_name(label));
  for (int i = 0; !error && i < kFolderTriesMax; ++i) {
    const std::string folder = i == 0 ? base : concat(base, "-", i + 1);
    if (std::filesystem::create_directory(folder, error)) return folder;
  }
  return fail(ErrorCode::kStore, concat("cannot make ", base, ": ", error.message()));
}

class SampleRun {
 public:
  explicit SampleRun(const Arguments& arguments)
      : arguments_(arguments),
        language_(arguments.language),
        json_(arguments.has("json")),
        last_(last_triple_path(arguments.environment)) {}

  Exit run() {
    if (const Exit read = read_sample_settings(arguments_, settings_); read != Exit::kFine) {
      return read;
    }
    if (const Exit made = make_target(); made != Exit::kFine) return made;
    if (settings_.target.model.empty()) {
      if (const Exit picked = pick_model(); picked != Exit::kFine) return picked;
    }
    if (settings_.has_preflight) {
      if (const Exit checked = check(); checked != Exit::kFine) return checked;
    }
    notice_change();
    return sample();
  }

 private:
  Exit refuse(const Error& error) {
    complain(config::printable(error.message));
    return Exit::kUsage;
  }

  Exit make_target() {
    const probe::BaseUrl url = probe::inspect_base_url(settings_.target.base_url);
    proxy_ = probe::choose_proxy(arguments_.environment, url);
    Result<sampler::Target> target = sampler::Target::make(settings_.target, proxy_);
    if (!target.has_value()) return refuse(target.error());
    target_ = std::move(*target);
    return Exit::kFine;
  }

  Exit pick_model() {
    const std::string path = probe::models_target(target_.url(), settings_.target.dialect);
    auto job = sampler::ask_once(target_, settings_.limits, "", target_.compose_get(path));
    if (!job.has_value()) return refuse(job.error());
    const auto models = probe::read_model_list((*job)->body, kModelsMax);
    if (models.empty()) {
      complain(kNoModel.in(language_));
      return (*job)->record.status ? Exit::kUsage : explain(settings_.target.base_url);
    }
    settings_.target.model = models.front();
    return make_target();
  }

  // One small request in one piece, which is not counted.
  Exit check() {
    for (;;) {
      auto job =
          sampler::ask_once(target_, settings_.limits, "", sampler::preflight_request(target_));
      if (!job.has_value()) return refuse(job.error());
      if ((*job)->record.outcome == runs::RequestOutcome::kOk) {
        answered_by_ = probe::read_body(settings_.target.dialect, (*job)->body).model;
        return Exit::kFine;
      }
      // A reasoning model may spend all of those few tokens unseen: the access works.
      if ((*job)->record.outcome == runs::RequestOutcome::kEmpty) return Exit::kFine;
      const bool other_name = settings_.target.token_limit == probe::TokenLimit::kMaxTokens &&
                              probe::is_about_max_tokens((*job)->error_words);
      if (!other_name) return explain(settings_.target.base_url);
      settings_.target.token_limit = probe::TokenLimit::kMaxCompletionTokens;
      if (const Exit made = make_target(); made != Exit::kFine) return made;
    }
  }

  // Why the access does not work, by the check that is made for it.
  Exit explain(const std::string& base_url) {
    note(kPreflightFailed.in(language_));
    probe::CheckSettings check;
    check.base_url = base_url;
    check.key = settings_.target.key;
    check.model = settings_.target.model;
    check.dialect = settings_.target.dialect;
    check.environment = arguments_.environment;
    const probe::Record record = probe::run_check(check);
    const verify::Verdict verdict = verify::conclude(record);
    if (json_) {
      print_verdict_json(record, verdict);
    } else {
      print(verify::verdict_text(verdict, language_, colour_of_output(arguments_.environment)));
    }
    switch (verdict.conclusion) {
      case verify::Conclusion::kUnreachable:
        return Exit::kUnreachable;
      case verify::Conclusion::kUnusable:
        return Exit::kUsage;
      case verify::Conclusion::kFine:
      case verify::Conclusion::kRemarks:
      case verify::Conclusion::kFailed:
        return Exit::kNo;
    }
    return Exit::kNo;
  }

  void print_verdict_json(const probe::Record& record, const verify::Verdict& verdict) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.key("preflight");
    writer.begin_object();
    verify::write_verdict(writer, record, verdict, language_);
    writer.end_object();
    writer.end_object();
    print(out + "\n");
  }

  // Numbers of different triples do not compare.
  void notice_change() {
    verify::Triple now =
        last_.make(settings_.target.base_url, settings_.target.key, settings_.target.model);
    now.answered_by = answered_by_;
    if (last_.before().has_value()) {
      const verify::TripleChange change = verify::compare_triples(*last_.before(), now);
      if (change.any()) {
        marks_.emplace_back("triple_changed");
        note(verify::triple_words(*last_.before(), now, change, language_));
      }
    }
    last_.keep(now);
  }

  // One run and where it is kept.
  struct Made {
    sampler::SessionResult result;
    std::string folder;
  };

  Exit sample() {
    const comparison::Archive archive = archive_of(arguments_);
    if (!settings_.baseline.empty() && !archive.has(settings_.baseline)) {
      complain(filled(kNoBaseline, language_, {settings_.baseline}));
      return Exit::kUsage;
    }
    if (!settings_.other_url.empty()) return against_other();
    note(config::printable(heading(target_)));
    Result<Made> made = make_run(target_, settings_.seed);
    if (!made.has_value()) return refuse(made.error());
    if (settings_.baseline.empty()) return tell(*made);
    tell(*made);
    return against_baseline(archive, *made);
  }

  Result<Made> make_run(const sampler::Target& target, uint64_t seed) {
    const std::string label = settings_.label.empty() ? settings_.target.model : settings_.label;
    Result<std::string> folder = make_run_folder(settings_.result_dir, label);
    if (!folder.has_value()) return fail(folder.error());
    sampler::SessionSettings session;
    session.plan = settings_.plan;
    if (session.plan.arrivals) session.plan.arrivals->seed = seed;
    session.limits = settings_.limits;
    session.probes = settings_.probes;
    session.objectives = settings_.objectives;
    session.folder = *folder;
    session.marks = marks_;
    session.manifest.label = settings_.label;
    session.manifest.command = settings_.command;
    session.manifest.seed = seed;
    for (const auto& [key, value] : settings_.metadata) session.manifest.metadata[key] = value;
    session.manifest.fingerprint["max_tokens"] = std::to_string(settings_.max_tokens);
    session.manifest.fingerprint["client"] = concat("headway ", HEADWAY_VERSION);
    told_ = 0;
    Result<sampler::SessionResult> result = perform(target, seed, std::move(session));
    if (!result.has_value()) return fail(result.error());
    return Made{std::move(*result), *folder};
  }

  Result<sampler::SessionResult> perform(const sampler::Target& target, uint64_t seed,
                                         sampler::SessionSettings session) {
    sampler::MixedPrompts prompts(settings_.mix, settings_.mix_words, seed, random_seed());
    const auto on_record = [this](const sampler::Load& load, const runs::Record& record) {
      tell_record(load, record);
    };
    sampler::Session running(target, prompts, std::move(session), on_record);
    // A second signal ends the program at once.
    bool asked = false;
    const app::SignalWatch watch([&running, &asked](app::Asked what) {
      if (what != app::Asked::kStop) return;
      if (asked) ::_exit(static_cast<int>(Exit::kNo));
      asked = true;
      running.stop();
    });
    return running.run();
  }

  // Against the accepted runs of a baseline. What looks different is confirmed by another run.
  Exit against_baseline(const comparison::Archive& archive, const Made& first) {
    if (first.result.stopped) return Exit::kNo;
    std::vector<std::string> fresh = {first.folder};
    Result<comparison::Report> report = compare(archive.runs(settings_.baseline), fresh);
    if (report.has_value() && report->comparison.needs_confirmation) {
      note(kConfirming.in(language_));
      Result<Made> second = make_run(target_, settings_.seed + 1);
      if (!second.has_value()) return refuse(second.error());
      fresh.push_back(second->folder);
      report = compare(archive.runs(settings_.baseline), fresh);
    }
    if (!report.has_value()) return refuse(report.error());
    return tell_comparison(*report);
  }

  // Runs of both endpoints in turn, A B B A A B B A: whatever else changes, changes for both. Runs
  // of a pair share their seed and so their load; every prompt is unique all the same.
  Exit against_other() {
    sampler::TargetSettings other = settings_.target;
    other.base_url = settings_.other_url;
    const auto proxy =
        probe::choose_proxy(arguments_.environment, probe::inspect_base_url(settings_.other_url));
    Result<sampler::Target> base = sampler::Target::make(std::move(other), proxy);
    if (!base.has_value()) return refuse(base.error());
    if (settings_.has_preflight) {
      auto job = sampler::ask_once(*base, settings_.limits, "", sampler::preflight_request(*base));
      if (!job.has_value()) return refuse(job.error());
      const runs::RequestOutcome outcome = (*job)->record.outcome;
      if (outcome != runs::RequestOutcome::kOk && outcome != runs::RequestOutcome::kEmpty) {
        return explain(settings_.other_url);
      }
    }
    std::vector<std::string> base_folders, new_folders;
    const int all = 2 * settings_.runs_a_side;
    for (int i = 0; i < all; ++i) {
      const bool is_base = i % 4 == 0 || i % 4 == 3;
      const sampler::Target& target = is_base ? *base : target_;
      note(config::printable(
          filled(kTurn, language_, {std::to_string(i + 1), std::to_string(all), heading(target)})));
      Result<Made> made = make_run(target, settings_.seed + static_cast<uint64_t>(i / 2));
      if (!made.has_value()) return refuse(made.error());
      if (made->result.stopped) return Exit::kNo;
      (is_base ? base_folders : new_folders).push_back(made->folder);
    }
    Result<comparison::Report> report = compare(base_folders, new_folders);
    if (!report.has_value()) return refuse(report.error());
    return tell_comparison(*report);
  }

  static Result<comparison::Report> compare(const std::vector<std::string>& base_folders,
                                            const std::vector<std::string>& new_folders) {
    std::vector<comparison::Run> base, fresh;
    for (const auto* folders : {&base_folders, &new_folders}) {
      for (const std::string& folder : *folders) {
        Result<comparison::Run> run = comparison::load_run(folder, comparison::Edited::kRefused);
        if (!run.has_value()) return fail(run.error());
        (folders == &base_folders ? base : fresh).push_back(std::move(*run));
      }
    }
    return comparison::make_report(base, fresh);
  }

  Exit tell_comparison(const comparison::Report& report) {
    if (json_) {
      print(comparison::report_json(report));
    } else {
      print("\n");
      print_comparison(report, arguments_);
    }
    return exit_of_verdict(report.comparison.verdict);
  }

  std::string heading(const sampler::Target& target) const {
    const sampler::LoadPlan& plan = settings_.plan;
    const std::string many =
        plan.requests > 0 ? std::to_string(plan.requests) : concat(plan.steady_ns / kSecond, " s");
    const std::string load =
        plan.arrivals ? filled(kOpen, language_, {many, fixed(plan.arrivals->rate, 2)})
                      : filled(kClosed, language_, {many, std::to_string(plan.concurrency)});
    return filled(kSampling, language_,
                  {target.address(), std::string(dialect_name(settings_.target.dialect)),
                   settings_.target.model, load});
  }

  void tell_record(const sampler::Load& load, const runs::Record& record) {
    if (record.phase != runs::Phase::kSteady) return;
    ++told_;
    const size_t total = settings_.plan.requests;
    if (total > 0 && total <= kLinesMax) {
      note(config::printable(sampler::request_line(record, told_, total, language_)));
      return;
    }
    const Nanos now = monotonic_ns();
    if (now < next_progress_) return;
    next_progress_ = now + kSecond;
    note(filled(kProgress, language_, {std::to_string(told_), std::to_string(load.under_way())}));
  }

  Exit tell(const Made& made) {
    const sampler::SessionResult& result = made.result;
    if (!json_) {
      print("\n" +
            sampler::report_text(result, language_, colour_of_output(arguments_.environment)));
      print(config::printable(filled(kFolder, language_, {made.folder})) + "\n");
    } else if (settings_.baseline.empty()) {
      print_json(result, made.folder);
    }
    const runs::OutcomeCounts& counts = result.summary.buckets.front().counts;
    const bool whole = !result.stopped && !result.disk && counts.ok() > 0;
    return whole ? Exit::kFine : Exit::kNo;
  }

  // The summary as in the folder, with the folder's name before it.
  void print_json(const sampler::SessionResult& result, const std::string& folder) {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("run", folder);
    writer.end_object();
    out.back() = ',';
    print(out + sampler::summary_json(result).substr(1));
  }

  const Arguments& arguments_;
  const config::Language language_;
  const bool json_;
  LastTriple last_;
  SampleSettings settings_;
  probe::ProxyChoice proxy_;
  sampler::Target target_;
  std::string answered_by_;
  std::vector<std::string> marks_;
  size_t told_ = 0;
  Nanos next_progress_ = 0;
};

}  // namespace

Command sample_command() {
  Command out;
  out.name = "sample";
  out.summary = {
      "Measures an endpoint with streamed requests: TTFT, TPOT and total with P50, P95, P99 and "
      "their intervals, errors by class, and whether that is healthy. Keeps the run in a folder.",
      "用流式请求测量端点：TTFT、TPOT、总时长的 P50、P95、P99 "
      "及其区间，按类别统计错误，并判断是否健康。"
      "运行结果保存在目录中。"};
  out.flags = sample_flags();
  out.examples = {
      "headway sample",
      "headway sample --base-url http://127.0.0.1:8000/v1 --model qwen --num-prompts 400",
      "headway sample --request-rate 5 --duration 60 --warmup 10 --seed 42",
      "headway sample --dialect messages --json"};
  out.run = [](const Arguments& arguments) { return SampleRun(arguments).run(); };
  return out;
}

}  // namespace hw::cli
