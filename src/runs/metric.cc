#include "runs/metric.h"

#include <array>

namespace hw::runs {
namespace {

using Stamp = std::optional<Nanos>;
using Value = std::optional<double>;

Value between(Stamp from, Stamp to) {
  if (!from || !to || *to < *from) return std::nullopt;
  return static_cast<double>(*to - *from);
}

Stamp first_token(const Record& record) {
  return record.tokens.empty() ? Stamp() : record.tokens.front().at;
}
Stamp last_token(const Record& record) {
  return record.tokens.empty() ? Stamp() : record.tokens.back().at;
}
Stamp first_visible(const Record& record) {
  for (const TokenEvent& token : record.tokens) {
    if (token.channel != TokenChannel::kReasoning) return token.at;
  }
  return std::nullopt;
}

// The end of an answer: its last token, or, not streamed, its last byte.
Stamp end_of(const Record& record) {
  if (!record.tokens.empty()) return last_token(record);
  return record.t_done ? record.t_done : record.t_close;
}

Value tpot(const Record& record) {
  if (record.has_mark("reasoning_hidden") || !record.n_out || record.tokens.size() < 2) {
    return std::nullopt;
  }
  const int64_t tokens = *record.n_out - record.n_first.value_or(1);
  if (tokens <= 0) return std::nullopt;
  return *between(first_token(record), last_token(record)) / static_cast<double>(tokens);
}

Value connect(const Record& record) {
  if (record.reused.value_or(false)) return 0;
  const Stamp end = record.t_tls ? record.t_tls : record.t_tcp;
  return between(record.t_conn0, end);
}

struct Definition {
  std::string_view name, formula;
};
constexpr std::array<Definition, kMetricCount> kDefinitions = {{
    {"ttft", "t_tok[0] - t_tx0: first token of any channel, from the first byte sent"},
    {"ttfo", "first token that is not reasoning - t_tx0"},
    {"ttff", "t_frame - t_tx0: first event of any kind"},
    {"ttst", "t_tok[1] - t_tok[0]"},
    {"tbt", "t_tok[i] - t_tok[i-1], every gap between token events, not divided"},
    {"tpot", "(t_tok[last] - t_tok[0]) / (n_out - n_first), n_first taken as 1 where not told"},
    {"e2e", "t_tok[last] - t_tx0; not streamed: end of the answer - t_tx0"},
    {"ttft_response", "t_tok[0] - t_sched: from the intended start"},
    {"e2e_response", "t_tok[last] - t_sched: from the intended start"},
    {"connect", "end of TCP and TLS - t_conn0; 0 on a reused connection"},
    {"sched_lag", "t_disp - t_sched"},
    {"tail", "t_done - t_tok[last]"},
}};

}  // namespace

std::string_view metric_name(Metric metric) {
  return kDefinitions[static_cast<size_t>(metric)].name;
}
std::string_view metric_definition(Metric metric) {
  return kDefinitions[static_cast<size_t>(metric)].formula;
}

std::optional<double> metric_ns(Metric metric, const Record& record) {
  switch (metric) {
    case Metric::kTtft:
      return record.has_mark("reasoning_hidden") ? Value()
                                                 : between(record.t_tx0, first_token(record));
    case Metric::kTtfo:
      return between(record.t_tx0, first_visible(record));
    case Metric::kTtff:
      return between(record.t_tx0, record.t_frame);
    case Metric::kTtst:
      if (record.tokens.size() < 2) return std::nullopt;
      return between(record.tokens[0].at, record.tokens[1].at);
    case Metric::kTbt:
      return std::nullopt;
    case Metric::kTpot:
      return tpot(record);
    case Metric::kE2e:
      return between(record.t_tx0, end_of(record));
    case Metric::kTtftResponse:
      return record.has_mark("reasoning_hidden") ? Value()
                                                 : between(record.t_sched, first_token(record));
    case Metric::kE2eResponse:
      return between(record.t_sched, end_of(record));
    case Metric::kConnect:
      return connect(record);
    case Metric::kSchedLag:
      return between(record.t_sched, record.t_disp);
    case Metric::kTail:
      return between(last_token(record), record.t_done);
  }
  return std::nullopt;
}

std::optional<double> censored_ns(Metric metric, const Record& record) {
  switch (metric) {
    case Metric::kTtft:
      return record.tokens.empty() ? between(record.t_tx0, record.t_close) : Value();
    case Metric::kTtfo:
      return first_visible(record) ? Value() : between(record.t_tx0, record.t_close);
    case Metric::kTtff:
      return record.t_frame ? Value() : between(record.t_tx0, record.t_close);
    case Metric::kE2e:
      return between(record.t_tx0, record.t_close);
    case Metric::kTtftResponse:
      return record.tokens.empty() ? between(record.t_sched, record.t_close) : Value();
    case Metric::kE2eResponse:
      return between(record.t_sched, record.t_close);
    case Metric::kTtst:
    case Metric::kTbt:
    case Metric::kTpot:
    case Metric::kConnect:
    case Metric::kSchedLag:
    case Metric::kTail:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hw::runs
