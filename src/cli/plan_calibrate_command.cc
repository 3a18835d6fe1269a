// `headway plan calibrate`: what a GPU's instance would answer, by the cost model.
#include <charconv>

#include "base/text.h"
#include "cli/commands.h"
#include "command/number_flags.h"
#include "config/document.h"
#include "json/writer.h"
#include "planner/calibration.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
using config::Words;
using gpu_model::kScalarBounds;
using gpu_model::Scalars;
namespace {

constexpr int64_t kPassesMax = 20;
constexpr int64_t kClientRequestsMax = 1000;

std::string rounded(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4);
  return {text, end.ptr};
}

// `headway plan calibrate`.
class Calibration {
 public:
  explicit Calibration(const Arguments& arguments)
      : arguments_(arguments), language_(arguments.language), json_(arguments.has("json")) {}

  Exit run() {
    if (!read_flags()) return Exit::kUsage;
    const Result<std::vector<planner::Prediction>> before =
        predict_all(rows_, Scalars(), options_.replay);
    if (!before.has_value()) return refuse(before.error());
    options_.on_pass = [this](int pass, double loss) { tell_pass(pass, loss); };
    const Result<Scalars> fitted = fit(rows_, Scalars(), options_);
    if (!fitted.has_value()) return refuse(fitted.error());
    const Result<std::vector<planner::Prediction>> after =
        predict_all(rows_, *fitted, options_.replay);
    if (!after.has_value()) return refuse(after.error());
    std::vector<Line> lines = {
        {"shipped", {"shipped constants", "内置常数"}, planner::residuals(rows_, *before)},
        {"fitted", {"fitted", "拟合后"}, planner::residuals(rows_, *after)}};
    if (arguments_.has("folds") && !add_folds(lines)) return Exit::kUsage;
    json_ ? print_json(*fitted, lines) : print_text(*fitted, lines);
    return Exit::kFine;
  }

 private:
  // Errors under one set of constants.
  struct Line {
    std::string_view name;
    Words words;
    planner::Residuals errors;
  };

  Exit refuse(const Error& error) {
    complain(error.message);
    return Exit::kUsage;
  }

  bool read_flags() {
    const NumberFlags numbers(arguments_);
    if (!numbers.read("passes", 1, kPassesMax, options_.passes) ||
        !numbers.read("requests-per-client", 1, kClientRequestsMax,
                      options_.replay.requests_per_client)) {
      return false;
    }
    const std::string path = arguments_.value("csv");
    const Result<std::string> text = config::read_small_file(path, planner::kCsvBytesMax);
    if (path.empty() || !text.has_value()) {
      complain(path.empty()
                   ? std::string(Words{"needs --csv FILE", "需要 --csv 文件"}.in(language_))
                   : concat(path, Words{" cannot be read", " 无法读取"}.in(language_)));
      return false;
    }
    Result<std::vector<planner::Measurement>> rows = planner::read_measurements(*text);
    if (!rows.has_value()) {
      complain(concat(path, ": ", rows.error().message));
      return false;
    }
    rows_ = std::move(*rows);
    return true;
  }

  void tell_pass(int pass, double loss) {
    note(concat(fold_, fold_.empty() ? "" : ": ", Words{"pass ", "第 "}.in(language_), pass, "/",
                options_.passes, Words{", error ", " 轮，误差 "}.in(language_), rounded(loss)));
  }

  bool add_folds(std::vector<Line>& lines) {
    options_.on_fold = [this](const std::string& name) { fold_ = name; };
    const auto out = predict_out_of_fold(rows_, Scalars(), options_);
    if (!out.has_value()) return refuse(out.error()) == Exit::kFine;
    lines.push_back({"out_of_fold", {"out of fold", "折外"}, planner::residuals(rows_, *out)});
    return true;
  }

  void print_text(const Scalars& fitted, const std::vector<Line>& lines) const {
    const Scalars shipped;
    std::vector<Row> scalars;
    for (const gpu_model::ScalarBound& bound : kScalarBounds) {
      scalars.push_back({std::string(bound.name), rounded(shipped.*bound.member),
                         rounded(fitted.*bound.member),
                         concat(rounded(bound.least), " .. ", rounded(bound.most))});
    }
    const auto in = [&](const Words& words) { return std::string(words.in(language_)); };
    print(
        render_table({"", in({"shipped", "内置"}), in({"fitted", "拟合"}), in({"bounds", "范围"})},
                     scalars, Colour::kNone));
    std::vector<Row> errors;
    for (const Line& line : lines) {
      const auto add = [&](const Words& kind, const planner::Errors& of) {
        if (of.rows == 0) return;
        errors.push_back({in(line.words), in(kind), std::to_string(of.rows), rounded(of.ttft_mape),
                          rounded(of.tpot_mape)});
      };
      add({"dense", "稠密"}, line.errors.dense);
      add({"with experts", "MoE"}, line.errors.experts);
      add({"queued", "排队"}, line.errors.queued);
      add({"too fast", "快于显存带宽"}, line.errors.too_fast);
    }
    print("\n" + render_table({"", "", in({"rows", "行数"}), "TTFT MAPE %", "TPOT MAPE %"}, errors,
                              Colour::kNone));
  }

  void print_json(const Scalars& fitted, const std::vector<Line>& lines) const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.key("scalars");
    writer.begin_object();
    for (const gpu_model::ScalarBound& bound : kScalarBounds) {
      writer.field(bound.name, fitted.*bound.member);
    }
    writer.end_object();
    writer.key("errors");
    writer.begin_object();
    for (const Line& line : lines) write_errors(writer, line);
    writer.end_object();
    writer.end_object();
    print(out + "\n");
  }

  static void write_errors(json::Writer& writer, const Line& line) {
    writer.key(line.name);
    writer.begin_object();
    const auto write = [&](std::string_view kind, const planner::Errors& errors) {
      writer.key(kind);
      writer.begin_object();
      writer.field("rows", errors.rows);
      writer.field("ttft_mape", errors.ttft_mape);
      writer.field("tpot_mape", errors.tpot_mape);
      writer.end_object();
    };
    write("dense", line.errors.dense);
    write("experts", line.errors.experts);
    write("queued", line.errors.queued);
    write("too_fast", line.errors.too_fast);
    writer.end_object();
  }

  const Arguments& arguments_;
  const config::Language language_;
  const bool json_;
  planner::FitOptions options_;
  std::vector<planner::Measurement> rows_;
  std::string fold_;
};

}  // namespace

Command plan_calibrate_command() {
  Command out;
  out.name = "plan calibrate";
  out.summary = {
      "Fits the cost model's constants to measured TTFT and TPOT, within their bounds, and reports "
      "how far it is from each kind of row.",
      "用测得的 TTFT 与 TPOT 在范围内拟合成本模型的常数，并报告各类行的误差。"};
  out.flags = {
      {"csv",
       "FILE",
       {"Rows: model, gpu, tp, input_tokens, output_tokens, concurrency, ttft_mean_ms, "
        "tpot_mean_ms; optionally precision, kv_blocks.",
        "各行的列：model, gpu, tp, input_tokens, output_tokens, concurrency, ttft_mean_ms, "
        "tpot_mean_ms；可选 precision, kv_blocks。"}},
      {"passes", "N", {"Passes over all constants (3).", "遍历全部常数的轮数（3）。"}},
      {"requests-per-client",
       "N",
       {"Requests of each client in a row's load (8).", "每个客户端的请求数（8）。"}},
      {"folds",
       "",
       {"Also fits without each model and parallelism in turn, and reports the errors on what was "
        "left out.",
        "另外逐一留出每个模型与并行度进行拟合，并报告留出行的误差。"}},
      json_flag(),
  };
  out.examples = {"headway plan calibrate --csv bench/twin_data/vllm-h100.csv",
                  "headway plan calibrate --csv mine.csv --folds --json"};
  out.run = [](const Arguments& arguments) { return Calibration(arguments).run(); };
  return out;
}

}  // namespace hw::cli
