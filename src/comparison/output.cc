#include "comparison/output.h"

#include <cstdio>

#include "base/text.h"
#include "comparison/wording.h"
#include "json/writer.h"

namespace hw::comparison {
namespace {

using config::Language;

void write_row(json::Writer& writer, const MetricVerdict& row) {
  writer.begin_object();
  writer.field("bucket", row.bucket);
  writer.field("metric", row.metric);
  if (row.quantile.empty()) {
    writer.field_null("quantile");
  } else {
    writer.field("quantile", row.quantile);
  }
  writer.field("base", row.base);
  writer.field("new", row.next);
  writer.field("change", row.change);
  for (const auto& [name, value] : {std::pair("low", row.low), std::pair("high", row.high)}) {
    if (row.has_interval) {
      writer.field(name, value);
    } else {
      writer.field_null(name);
    }
  }
  writer.field("primary", row.role == Role::kPrimary);
  if (row.is_judged) {
    writer.field("verdict", verdict_name(row.verdict));
    writer.field("p_slower", row.p_slower);
    writer.field("p_faster", row.p_faster);
  } else {
    writer.field_null("verdict");
    writer.field("why_not", row.why_not);
  }
  if (row.permutation_p_slower) writer.field("permutation_p_slower", *row.permutation_p_slower);
  if (row.runs_needed) writer.field("runs_needed", *row.runs_needed);
  writer.field("cliffs_delta", row.cliffs_delta);
  writer.end_object();
}

void write_shares(json::Writer& writer, const Attribution& attribution) {
  writer.key("shares");
  writer.begin_array();
  for (const Share& share : attribution.shares) {
    writer.begin_object();
    writer.field("cause", cause_name(share.cause));
    writer.field("share", share.share);
    if (share.low) {
      writer.field("low", *share.low);
      writer.field("high", *share.high);
    }
    writer.end_object();
  }
  writer.end_array();
}

void write_attribution(json::Writer& writer, const Attribution& attribution) {
  writer.begin_object();
  writer.field("metric", attribution.metric);
  writer.field("quantile", quantile_name(attribution.quantile));
  writer.field("change", attribution.change);
  writer.field("changed", attribution.is_changed);
  if (attribution.verdict) {
    writer.field("cause", cause_name(*attribution.verdict));
  } else {
    writer.field_null("cause");
  }
  write_shares(writer, attribution);
  writer.key("evidence");
  writer.begin_array();
  for (const Evidence& evidence : attribution.evidence) {
    writer.begin_object();
    writer.field("signature", signature_name(evidence.signature));
    writer.field("base", evidence.base);
    writer.field("new", evidence.next);
    writer.end_object();
  }
  writer.end_array();
  writer.field("uncovered", attribution.uncovered);
  writer.field("sentence", attribution_sentence(attribution, Language::kEnglish));
  writer.end_object();
}

void write_preconditions(json::Writer& writer, const std::vector<Precondition>& list) {
  writer.begin_array();
  for (const Precondition& one : list) {
    writer.begin_object();
    writer.field("name", one.name);
    writer.field("state", state_name(one.state));
    writer.field("detail", one.detail);
    writer.end_object();
  }
  writer.end_array();
}

// XML 1.0: five characters escaped, controls left out.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

std::string row_name(const MetricVerdict& row) {
  return concat(row.bucket, ".", row.metric, row.quantile.empty() ? "" : ".", row.quantile);
}

std::string interval_of(const MetricVerdict& row) {
  if (!row.has_interval) return "-";
  return concat("[", percent(row.low), ", ", percent(row.high), "]");
}

std::string test_case(const MetricVerdict& row) {
  const std::string told = concat(fixed(row.base, 3), " -> ", fixed(row.next, 3), ", ",
                                  percent(row.change), " ", interval_of(row));
  std::string out =
      concat("  <testcase classname=\"headway.compare\" name=\"", escaped(row_name(row)), "\">");
  const std::string_view verdict = verdict_name(row.verdict);
  switch (row.verdict) {
    case Verdict::kSlower:
      out += concat("<failure message=\"SLOWER\">", escaped(told), "</failure>");
      break;
    case Verdict::kInconclusive:
    case Verdict::kSuspected:
      out += concat("<skipped message=\"", verdict, ": ", escaped(told), "\"/>");
      break;
    case Verdict::kFaster:
    case Verdict::kEquivalent:
      out += concat("<system-out>", verdict, ": ", escaped(told), "</system-out>");
      break;
  }
  return out + "</testcase>\n";
}

// A cell of a table: no bar and no line feed may end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '`') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

bool is_shown_first(const MetricVerdict& row) {
  return row.role == Role::kPrimary;
}

std::string markdown_row(const MetricVerdict& row) {
  return concat("| ", cell(row.bucket), " | ", row.metric, " ", row.quantile, " | ",
                fixed(row.base, 3), " | ", fixed(row.next, 3), " | ", percent(row.change), " | ",
                interval_of(row), " | ",
                row.is_judged ? std::string(verdict_name(row.verdict)) : cell(row.why_not), " |\n");
}

}  // namespace

Report make_report(const std::vector<Run>& base, const std::vector<Run>& next) {
  return {compare(base, next), attribute(base, next), check_preconditions(base, next)};
}

std::string report_json(const Report& report) {
  std::string out;
  json::Writer writer(out);
  const Comparison& comparison = report.comparison;
  writer.begin_object();
  writer.field("verdict", verdict_name(comparison.verdict));
  writer.field("method", method_name(comparison.method));
  writer.field("base_runs", comparison.base_runs);
  writer.field("new_runs", comparison.new_runs);
  if (comparison.runs_needed) {
    writer.field("runs_needed", *comparison.runs_needed);
  } else {
    writer.field_null("runs_needed");
  }
  writer.field("needs_confirmation", comparison.needs_confirmation);
  writer.key("metrics");
  writer.begin_array();
  for (const MetricVerdict& row : comparison.rows) write_row(writer, row);
  writer.end_array();
  writer.key("attribution");
  write_attribution(writer, report.attribution);
  writer.key("preconditions");
  write_preconditions(writer, report.preconditions);
  writer.end_object();
  return out + "\n";
}

std::string report_junit(const Report& report) {
  size_t tests = 0, failures = 0, skipped = 0;
  std::string cases;
  for (const MetricVerdict& row : report.comparison.rows) {
    if (!is_shown_first(row) || !row.is_judged) continue;
    ++tests;
    failures += row.verdict == Verdict::kSlower ? 1 : 0;
    skipped += row.verdict == Verdict::kInconclusive || row.verdict == Verdict::kSuspected ? 1 : 0;
    cases += test_case(row);
  }
  return concat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"headway compare\" tests=\"",
      tests, "\" failures=\"", failures, "\" skipped=\"", skipped, "\">\n", cases,
      "</testsuite>\n");
}

std::string report_markdown(const Report& report, Language language) {
  const bool chinese = language == Language::kChinese;
  std::string out = concat("## headway compare: ", verdict_name(report.comparison.verdict), "\n\n",
                           verdict_sentence(report.comparison, language), "\n\n",
                           cell(attribution_sentence(report.attribution, language)), "\n\n");
  for (const Evidence& evidence : report.attribution.evidence) {
    out += concat("* ", cell(evidence_sentence(evidence, language)), "\n");
  }
  out += chinese ? "\n| 分组 | 指标 | 基线 | 新 | 变化 | 90% 区间 | 结论 |\n"
                 : "\n| bucket | metric | base | new | change | 90 % interval | verdict |\n";
  out += "|---|---|---|---|---|---|---|\n";
  for (const MetricVerdict& row : report.comparison.rows) {
    if (is_shown_first(row)) out += markdown_row(row);
  }
  for (const MetricVerdict& row : report.comparison.rows) {
    if (!is_shown_first(row)) out += markdown_row(row);
  }
  for (const Precondition& one : report.preconditions) {
    if (one.state != Precondition::State::kFails) continue;
    out += concat(chinese ? "\n* 不满足：" : "\n* does not hold: ", one.title.in(language), " (",
                  cell(one.detail), ")");
  }
  return out + "\n";
}

}  // namespace hw::comparison
