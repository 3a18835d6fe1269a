#include "sampler/serving_figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/text.h"

namespace hw::sampler {
namespace {

constexpr double kNanosPerMs = 1e6;
constexpr size_t kLabelColumns = 40, kColumns = 50;

double milliseconds(Nanos nanos) {
  return static_cast<double>(nanos) / kNanosPerMs;
}

double per_second(size_t count, double duration_s) {
  return duration_s > 0 ? static_cast<double>(count) / duration_s : 0;
}

// numpy.percentile's default.
double linear_quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

ServingLatency latency_of(std::vector<double> values) {
  ServingLatency out;
  out.count = values.size();
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  out.mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.standard_deviation = std::sqrt(squares / static_cast<double>(values.size()));
  out.median = linear_quantile(values, 0.5);
  out.p90 = linear_quantile(values, 0.90);
  out.p95 = linear_quantile(values, 0.95);
  out.p99 = linear_quantile(values, 0.99);
  return out;
}

struct NamedLatency {
  std::string_view name, title, label;
  ServingLatency ServingFigures::* member;
};
constexpr std::array<NamedLatency, 4> kLatencies = {{
    {"ttft", "Time to First Token", "TTFT", &ServingFigures::ttft},
    {"tpot", "Time per Output Token (excl. 1st token)", "TPOT", &ServingFigures::tpot},
    {"itl", "Inter-token Latency", "ITL", &ServingFigures::itl},
    {"e2el", "End-to-end Latency", "E2EL", &ServingFigures::e2el},
}};

std::string centred(std::string_view text, char fill) {
  const size_t room = kColumns - std::min(kColumns, text.size());
  std::string out(room / 2, fill);
  return out.append(text).append(room - room / 2, fill) + "\n";
}

void append_line(std::string& out, std::string_view label, const std::string& value) {
  out.append(label).append(kLabelColumns - std::min(kLabelColumns, label.size()), ' ');
  out.append(" ").append(value);
  if (value.size() < kColumns - kLabelColumns) {
    out.append(kColumns - kLabelColumns - value.size(), ' ');
  }
  out += "\n";
}

}  // namespace

double ServingFigures::request_throughput() const {
  return duration_s > 0 ? static_cast<double>(completed) / duration_s : 0;
}
double ServingFigures::output_throughput() const {
  return duration_s > 0 ? static_cast<double>(output_tokens) / duration_s : 0;
}
double ServingFigures::total_token_throughput() const {
  return duration_s > 0 ? static_cast<double>(input_tokens + output_tokens) / duration_s : 0;
}

Result<Objectives> parse_objectives(std::string_view text) {
  Objectives out;
  for (text = trim(text); !text.empty(); text = trim(text)) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end);
    const size_t colon = std::min(pair.find(':'), pair.size());
    const std::string_view name = pair.substr(0, colon);
    const std::string_view number = pair.substr(std::min(colon + 1, pair.size()));
    double value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    const bool good = read.ec == std::errc() && read.ptr == number.data() + number.size();
    std::optional<double>* place = name == "ttft"   ? &out.ttft_ms
                                   : name == "tpot" ? &out.tpot_ms
                                   : name == "e2el" ? &out.e2el_ms
                                                    : nullptr;
    if (!good || !std::isfinite(value) || value < 0 || place == nullptr) {
      return fail(ErrorCode::kConfig,
                  concat("\"", pair, "\" is no objective: expected ttft:MS, tpot:MS or e2el:MS"));
    }
    *place = value;
  }
  return out;
}

void ServingCount::add(const runs::Record& record) {
  if (record.phase != runs::Phase::kSteady) return;
  const bool failed = runs::is_failed(record.outcome);
  if (record.outcome == runs::RequestOutcome::kDropped) ++sums_.attempted;
  if (!failed && record.outcome != runs::RequestOutcome::kOk) return;
  ++sums_.attempted;
  const std::optional<Nanos> start = record.t_disp ? record.t_disp : record.t_sched;
  if (start) first_ = std::min(first_.value_or(*start), *start);
  if (record.t_close) last_ = std::max(last_.value_or(*record.t_close), *record.t_close);
  if (failed) {
    ++sums_.failed;
    return;
  }
  ++sums_.completed;
  sums_.input_tokens += record.n_in.value_or(0);
  sums_.output_tokens += record.n_out.value_or(0);
  add_completed(record);
}

void ServingCount::add_completed(const runs::Record& record) {
  const std::optional<Nanos> sent = record.t_conn0 ? record.t_conn0 : record.t_tx0;
  const std::optional<Nanos> whole_end = record.t_done ? record.t_done : record.t_close;
  if (!sent || (record.tokens.empty() && !whole_end)) return;
  Nanos end = record.tokens.empty() ? *whole_end : record.tokens.back().at;
  if (record.t_usage) end = std::max(end, *record.t_usage);
  const double e2el = milliseconds(end - *sent);
  const int64_t tokens = record.n_out.value_or(0);
  std::optional<double> ttft, tpot;
  if (!record.tokens.empty()) ttft = milliseconds(record.tokens.front().at - *sent);
  if (ttft && tokens > 1) tpot = (e2el - *ttft) / static_cast<double>(tokens - 1);
  e2el_ms_.push_back(e2el);
  if (ttft) ttft_ms_.push_back(*ttft);
  if (tpot) tpot_ms_.push_back(*tpot);
  for (size_t i = 1; i < record.tokens.size(); ++i) {
    itl_ms_.push_back(milliseconds(record.tokens[i].at - record.tokens[i - 1].at));
  }
  if (objectives_.any()) count_good(ttft, tpot, e2el, tokens);
}

// What was not measured, though it is asked for, is not kept.
void ServingCount::count_good(std::optional<double> ttft_ms, std::optional<double> tpot_ms,
                              double e2el_ms, int64_t tokens) {
  const bool vacuous = objectives_.tpot_ms && !tpot_ms && tokens == 1;
  if (objectives_.ttft_ms && (!ttft_ms || *ttft_ms > *objectives_.ttft_ms)) return;
  if (objectives_.tpot_ms && !vacuous && (!tpot_ms || *tpot_ms > *objectives_.tpot_ms)) return;
  if (objectives_.e2el_ms && e2el_ms > *objectives_.e2el_ms) return;
  ++*sums_.good;
  sums_.good_vacuous += vacuous ? 1 : 0;
}

ServingFigures ServingCount::figures() const {
  ServingFigures out = sums_;
  if (first_ && last_) out.duration_s = static_cast<double>(*last_ - *first_) / 1e9;
  out.ttft = latency_of(ttft_ms_);
  out.tpot = latency_of(tpot_ms_);
  out.itl = latency_of(itl_ms_);
  out.e2el = latency_of(e2el_ms_);
  return out;
}

void write_serving_fields(json::Writer& writer, const ServingFigures& figures,
                          const ServingLoad& load) {
  writer.field("duration", figures.duration_s);
  writer.field("completed", figures.completed);
  writer.field("failed", figures.failed);
  writer.field("total_input_tokens", figures.input_tokens);
  writer.field("total_output_tokens", figures.output_tokens);
  writer.key("request_rate");
  load.rate ? writer.value(*load.rate) : writer.value("inf");
  writer.key("max_concurrency");
  load.concurrency > 0 ? writer.value(load.concurrency) : writer.null();
  writer.field("request_throughput", figures.request_throughput());
  writer.key("request_goodput");
  figures.good ? writer.value(per_second(*figures.good, figures.duration_s)) : writer.null();
  writer.key("good_request_fraction");
  figures.good&& figures.attempted > 0
      ? writer.value(static_cast<double>(*figures.good) / static_cast<double>(figures.attempted))
      : writer.null();
  writer.field("output_throughput", figures.output_throughput());
  writer.field("total_token_throughput", figures.total_token_throughput());
  for (const NamedLatency& one : kLatencies) {
    const ServingLatency& latency = figures.*one.member;
    const auto field = [&](std::string_view prefix, double value) {
      writer.key(concat(prefix, "_", one.name, "_ms"));
      latency.count > 0 ? writer.value(value) : writer.null();
    };
    field("mean", latency.mean);
    field("median", latency.median);
    field("std", latency.standard_deviation);
    field("p50", latency.median);
    field("p90", latency.p90);
    field("p95", latency.p95);
    field("p99", latency.p99);
  }
}

std::string serving_block(const ServingFigures& figures, const ServingLoad& load) {
  std::string out = centred(" Serving Benchmark Result ", '=');
  append_line(out, "Successful requests:", std::to_string(figures.completed));
  append_line(out, "Failed requests:", std::to_string(figures.failed));
  if (load.concurrency > 0) {
    append_line(out, "Maximum request concurrency:", std::to_string(load.concurrency));
  }
  if (load.rate) append_line(out, "Request rate configured (RPS):", fixed(*load.rate, 2));
  append_line(out, "Benchmark duration (s):", fixed(figures.duration_s, 2));
  append_line(out, "Total input tokens:", std::to_string(figures.input_tokens));
  append_line(out, "Total generated tokens:", std::to_string(figures.output_tokens));
  append_line(out, "Request throughput (req/s):", fixed(figures.request_throughput(), 2));
  if (figures.good) {
    append_line(
        out, "Request goodput (req/s):", fixed(per_second(*figures.good, figures.duration_s), 2));
  }
  append_line(out, "Output token throughput (tok/s):", fixed(figures.output_throughput(), 2));
  append_line(out, "Total Token throughput (tok/s):", fixed(figures.total_token_throughput(), 2));
  for (const NamedLatency& one : kLatencies) {
    const ServingLatency& latency = figures.*one.member;
    out += centred(one.title, '-');
    const auto line = [&](std::string_view name, double value) {
      append_line(out, concat(name, " ", one.label, " (ms):"),
                  latency.count > 0 ? fixed(value, 2) : "n/a");
    };
    line("Mean", latency.mean);
    line("Median", latency.median);
    line("P95", latency.p95);
    line("P99", latency.p99);
  }
  return out + std::string(kColumns, '=') + "\n";
}

}  // namespace hw::sampler
