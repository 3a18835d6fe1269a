#include "verify/report.h"

#include <string_view>

#include "base/text.h"
#include "config/text_width.h"
#include "probe/flow.h"

namespace hw::verify {

using config::Language;
using probe::Exchange;
using probe::Record;
using terminal::Colour;
namespace {

constexpr int kColumns = 100;
constexpr int kLabelColumns = 13;
constexpr int kIndent = 4;

std::string_view sign(Mark mark) {
  switch (mark) {
    case Mark::kFine:
      return "✓";
    case Mark::kRemark:
      return "!";
    case Mark::kFailed:
      return "✗";
    case Mark::kSkipped:
      return "·";
  }
  return {};
}

std::string_view paint(Mark mark) {
  switch (mark) {
    case Mark::kFine:
      return "\x1b[32m";
    case Mark::kRemark:
      return "\x1b[33m";
    case Mark::kFailed:
      return "\x1b[31m";
    case Mark::kSkipped:
      return "\x1b[2m";
  }
  return {};
}

std::string painted(std::string_view text, Mark mark, Colour colour) {
  if (colour == Colour::kNone) return std::string(text);
  return concat(paint(mark), text, "\x1b[0m");
}

// `text` behind `head`, which is `indent` columns wide; further lines are indented as far.
void append_wrapped(std::string& out, std::string_view head, int indent, std::string_view text) {
  std::string before(head);
  for (const std::string& line : config::wrap(config::printable(text), kColumns - indent)) {
    out += concat(before, line, "\n");
    before.assign(static_cast<size_t>(indent), ' ');
  }
}

void append_field(std::string& out, std::string_view label, std::string_view text) {
  constexpr int kFieldColumns = 14;
  const std::string head = std::string(kIndent, ' ') + config::pad_right(label, kFieldColumns);
  append_wrapped(out, head, kIndent + kFieldColumns, text);
}

void append_finding(std::string& out, const Finding& finding, Language language, Colour colour) {
  static constexpr config::Words kWhose = {"whose matter", "责任方"};
  static constexpr config::Words kSeen = {"seen", "依据"};
  static constexpr config::Words kDo = {"change", "改法"};
  static constexpr config::Words kNotIt = {"it is not", "并非"};
  const Mark mark = finding.severity == Severity::kFailure ? Mark::kFailed : Mark::kRemark;
  append_wrapped(out, concat(painted(sign(mark), mark, colour), " "), 2,
                 concat(finding.info().name, ": ", finding.title(language)));
  append_field(out, kWhose.in(language), blame_label(language, finding.info().blame));
  std::string_view label = kSeen.in(language);
  for (const Sentence& evidence : finding.evidence) {
    append_field(out, label, evidence.in(language));
    label = {};
  }
  append_field(out, kDo.in(language), finding.change(language));
  append_field(out, kNotIt.in(language), finding.not_it(language));
  out += "\n";
}

void write_ms(json::Writer& writer, std::string_view name, Nanos ns) {
  if (ns < 0) {
    writer.field_null(name);
  } else {
    writer.field(name, static_cast<double>(ns / kMicrosecond) / 1000.0);
  }
}

void write_exchange(json::Writer& writer, const Exchange& exchange, std::string_view purpose) {
  writer.begin_object();
  writer.field("purpose", purpose);
  writer.field("method", exchange.method);
  writer.field("url", exchange.url);
  writer.field("dialect", dialect_name(exchange.dialect));
  writer.field("streamed", exchange.streamed);
  writer.field("through_proxy", exchange.through_proxy);
  writer.field("key_header", key_header_name(exchange.key_header));
  writer.field("peer", exchange.peer);
  writer.field("status", exchange.status);
  writer.field("failure", exchange.failure_words);
  writer.field("complete", exchange.complete());
  const probe::ExchangeTimes& times = exchange.times;
  write_ms(writer, "resolved_ms", times.resolved);
  write_ms(writer, "connected_ms", times.connected);
  write_ms(writer, "secured_ms", times.secured);
  write_ms(writer, "sent_ms", times.sent);
  write_ms(writer, "head_ms", times.head);
  write_ms(writer, "first_byte_ms", times.first_byte);
  write_ms(writer, "first_event_ms", times.first_event);
  write_ms(writer, "first_token_ms", times.first_token);
  write_ms(writer, "last_token_ms", times.last_token);
  write_ms(writer, "final_event_ms", times.terminal);
  write_ms(writer, "ended_ms", times.ended);
  writer.field("body_bytes", exchange.body_bytes);
  writer.field("kept_alive", exchange.kept_alive);
  writer.field("reads", exchange.reads.size());
  if (exchange.is_stream) {
    const probe::Flow flow = flow_of(exchange);
    writer.field("events", exchange.stream.events);
    writer.field("token_events", exchange.stream.token_events);
    writer.field("arrivals", flow.clumps);
  }
  writer.end_object();
}

void write_exchanges(json::Writer& writer, const Record& record) {
  writer.key("exchanges");
  writer.begin_array();
  for (const probe::Try& each : record.tries) {
    write_exchange(writer, each.exchange, each.change == probe::Change::kNone ? "plain" : "other");
  }
  if (record.stream.has_value()) write_exchange(writer, *record.stream, "stream");
  if (record.longer_stream.has_value()) {
    write_exchange(writer, *record.longer_stream, "longer_stream");
  }
  writer.end_array();
}

void write_finding(json::Writer& writer, const Finding& finding, Language language) {
  writer.begin_object();
  writer.field("code", finding.info().name);
  writer.field("severity", severity_name(finding.severity));
  writer.field("step", step_name(finding.info().step));
  writer.field("fault", blame_name(finding.info().blame));
  writer.field("title", finding.title(language));
  writer.key("evidence");
  writer.begin_array();
  for (const Sentence& evidence : finding.evidence) writer.value(evidence.in(language));
  writer.end_array();
  writer.field("change", finding.change(language));
  writer.field("not", finding.not_it(language));
  writer.key("arguments");
  writer.begin_array();
  for (const std::string& argument : finding.arguments) writer.value(argument);
  writer.end_array();
  writer.end_object();
}

void write_key(json::Writer& writer, const Record& record) {
  writer.key("key");
  writer.begin_object();
  writer.field("given", record.key.given);
  writer.field("characters", record.key.bytes);
  writer.field("begins_with", record.key.begins_with);
  writer.end_object();
}

void write_calls(json::Writer& writer, const Record& record) {
  writer.key("gateway_calls");
  writer.begin_array();
  for (const probe::GatewayCall& call : record.gateway_calls) {
    if (call.json.empty()) {
      writer.begin_object();
      writer.field("id", call.id);
      writer.field("refusal", call.refusal);
      writer.end_object();
    } else {
      writer.raw(trim(call.json));
    }
  }
  writer.end_array();
}

}  // namespace

std::string verdict_text(const Verdict& verdict, Language language, Colour colour) {
  std::string out;
  for (const StepResult& step : verdict.steps) {
    const std::string label = config::pad_right(step_label(language, step.step), kLabelColumns);
    const std::string head = concat("  ", painted(sign(step.mark), step.mark, colour), " ", label);
    const std::string measured = step.measured.in(language);
    if (measured.empty()) {
      out += concat(head.substr(0, head.find_last_not_of(' ') + 1), "\n");
    } else {
      append_wrapped(out, head, kIndent + kLabelColumns, measured);
    }
  }
  out += "\n";
  for (const Finding& finding : verdict.findings) append_finding(out, finding, language, colour);
  const bool fine = verdict.conclusion == Conclusion::kFine;
  const bool works = verdict.conclusion == Conclusion::kRemarks;
  out += concat(painted(conclusion_words(language, verdict.conclusion),
                        fine    ? Mark::kFine
                        : works ? Mark::kRemark
                                : Mark::kFailed,
                        colour),
                "\n");
  return out;
}

void write_verdict(json::Writer& writer, const Record& record, const Verdict& verdict,
                   Language language) {
  writer.field("conclusion", conclusion_name(verdict.conclusion));
  writer.field("base_url", record.tries.empty() ? record.url.given : record.best().base_url);
  writer.field("given_base_url", record.url.given);
  if (record.tries.empty()) {
    writer.field_null("endpoint");
    writer.field("dialect", dialect_name(record.dialect));
  } else {
    writer.field("endpoint", record.plain().url);
    writer.field("dialect", dialect_name(record.plain().dialect));
  }
  writer.field("model", record.model);
  writer.field("model_answered", record.tries.empty() ? "" : record.plain().reading.model);
  write_key(writer, record);
  writer.key("steps");
  writer.begin_array();
  for (const StepResult& step : verdict.steps) {
    writer.begin_object();
    writer.field("step", step_name(step.step));
    writer.field("mark", mark_name(step.mark));
    writer.field("measured", step.measured.in(language));
    writer.end_object();
  }
  writer.end_array();
  writer.key("findings");
  writer.begin_array();
  for (const Finding& finding : verdict.findings) write_finding(writer, finding, language);
  writer.end_array();
  write_exchanges(writer, record);
  write_calls(writer, record);
}

}  // namespace hw::verify
