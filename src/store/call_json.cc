#include "store/call_json.h"

#include "json/writer.h"
#include "timeline/stages.h"

namespace hw::store {
namespace {

using json::Writer;
using timeline::Attempt;
using timeline::Call;

// null where the text is empty, which is how a call says "none".
void text_field(Writer& out, std::string_view name, std::string_view text) {
  if (text.empty()) return out.field_null(name);
  out.field(name, text);
}

// null where the number is negative, which is how a call says "unknown".
void number_field(Writer& out, std::string_view name, int64_t value) {
  if (value < 0) return out.field_null(name);
  out.field(name, value);
}

void time_field(Writer& out, std::string_view name, Nanos wall) {
  if (wall < 0) return out.field_null(name);
  std::string text;
  append_rfc3339(text, wall);
  out.field(name, text);
}

void error_field(Writer& out, const timeline::CallError& error) {
  if (error.code.empty()) return out.field_null("error");
  out.key("error");
  out.begin_object();
  out.field("code", error.code);
  out.field("message", error.message);
  out.end_object();
}

template <class Stamp, class Set>
void stamps_field(Writer& out, const Set& stamps, int count) {
  out.key("stamps");
  out.begin_object();
  for (int i = 0; i < count; ++i) {
    const auto stamp = static_cast<Stamp>(i);
    if (stamps.has(stamp)) out.field(timeline::stamp_name(stamp), stamps.get(stamp));
  }
  out.end_object();
}

void four_times(Writer& out, const Call& call) {
  const timeline::WallTimes times = timeline::wall_times(call);
  time_field(out, "enqueue_time", times.enqueue);
  time_field(out, "first_token_time", times.first_token);
  time_field(out, "last_token_time", times.last_token);
  time_field(out, "finish_time", times.finish);
}

void connection_fields(Writer& out, const timeline::ConnectionInfo& connection) {
  number_field(out, "rtt_us", connection.rtt_us);
  number_field(out, "retransmits", connection.retransmits);
  number_field(out, "unacked", connection.unacked);
}

void identity_fields(Writer& out, const Call& call) {
  out.field("id", call.id.view());
  out.field("trace_id", call.trace.hex());
  text_field(out, "key", call.key);
  text_field(out, "model", call.model);
  text_field(out, "upstream_model", call.upstream_model);
  out.field("dialect", dialect_name(call.dialect));
  text_field(out, "endpoint", call.endpoint);
  out.field("stream", call.stream);
  out.field("outcome", outcome_name(call.outcome));
  out.field("status", call.status);
  error_field(out, call.error);
  text_field(out, "finish_reason", call.finish_reason);
  text_field(out, "client_request_id", call.client_request_id);
  text_field(out, "credential_from", call.credential_from);
  out.key("lossy");
  out.begin_array();
  for (const std::string& field : call.lossy) out.value(field);
  out.end_array();
}

void time_fields(Writer& out, const Call& call, const timeline::StageList& list) {
  four_times(out, call);
  text_field(out, "first_token_reason", timeline::first_token_reason(call));
  out.field("arrived_unix_ns", call.arrived_wall);
  out.field("total_ns", list.total);
  stamps_field<timeline::ExchangeStamp>(out, call.stamps, timeline::kExchangeStampCount);
  out.key("stages");
  out.begin_array();
  for (const timeline::Stage& stage : list.stages) {
    out.begin_object();
    out.field("stage", timeline::stage_name(stage.kind));
    number_field(out, "attempt", stage.attempt);
    out.field("start_ns", stage.start);
    out.field("end_ns", stage.end);
    out.end_object();
  }
  out.end_array();
}

void attempt_object(Writer& out, const Attempt& attempt) {
  out.begin_object();
  out.field("channel", attempt.channel);
  text_field(out, "instance", attempt.instance);
  out.field("outcome", outcome_name(attempt.outcome));
  number_field(out, "status", attempt.status == 0 ? -1 : attempt.status);
  error_field(out, attempt.error);
  text_field(out, "upstream_request_id", attempt.upstream_request_id);
  stamps_field<timeline::AttemptStamp>(out, attempt.stamps, timeline::kAttemptStampCount);
  out.key("connection");
  out.begin_object();
  out.field("reused", attempt.connection.reused);
  connection_fields(out, attempt.connection);
  out.end_object();
  out.field("bytes_sent", attempt.bytes_sent);
  out.field("bytes_received", attempt.bytes_received);
  out.end_object();
}

void route_fields(Writer& out, const Call& call) {
  out.key("skipped");
  out.begin_array();
  for (const timeline::Skipped& skipped : call.skipped) {
    out.begin_object();
    out.field("channel", skipped.channel);
    out.field("reason", skipped.reason);
    out.end_object();
  }
  out.end_array();
  out.key("attempts");
  out.begin_array();
  for (const Attempt& attempt : call.attempts) attempt_object(out, attempt);
  out.end_array();
}

void engine_field(Writer& out, const Call& call) {
  const timeline::EngineTimes& engine = call.engine;
  if (engine.source.empty()) return out.field_null("engine");
  out.key("engine");
  out.begin_object();
  number_field(out, "queue_ns", engine.queue_ns);
  number_field(out, "prefill_ns", engine.prefill_ns);
  number_field(out, "kv_transfer_ns", engine.kv_transfer_ns);
  number_field(out, "decode_ns", engine.decode_ns);
  number_field(out, "first_token_ns", engine.first_token_ns);
  number_field(out, "cached_tokens", engine.cached_tokens);
  out.field("source", engine.source);
  const timeline::EngineBreakdown parts = timeline::engine_breakdown(call);
  number_field(out, "interval_ns", parts.present ? parts.interval : -1);
  number_field(out, "network_and_api_ns",
               parts.present && !parts.inconsistent ? parts.network_and_api : -1);
  out.field("inconsistent", parts.inconsistent);
  out.end_object();
}

void token_fields(Writer& out, const Call& call) {
  out.key("tokens");
  out.begin_object();
  out.field("input", call.tokens.input);
  out.field("cached_input", call.tokens.cached_input);
  out.field("cache_creation_input", call.tokens.cache_creation_input);
  out.field("output", call.tokens.output);
  out.field("reasoning", call.tokens.reasoning);
  out.field("source", timeline::token_source_name(call.tokens.source));
  out.end_object();
  number_field(out, "ttff_ns", timeline::ttff_ns(call));
  number_field(out, "ttft_ns", timeline::ttft_ns(call));
  number_field(out, "ttfo_ns", timeline::ttfo_ns(call));
  number_field(out, "tpot_ns", timeline::tpot_ns(call));
}

void gaps_field(Writer& out, const timeline::GapSummary& gaps) {
  const bool none = gaps.count == 0;
  out.key("gaps");
  out.begin_object();
  out.field("count", gaps.count);
  number_field(out, "p50_ns", none ? -1 : gaps.p50);
  number_field(out, "p99_ns", none ? -1 : gaps.p99);
  number_field(out, "max_ns", none ? -1 : gaps.max);
  out.key("causes");
  out.begin_object();
  for (size_t i = 0; i < gaps.count_by_cause.size(); ++i) {
    out.key(timeline::gap_cause_name(static_cast<timeline::GapCause>(i)));
    out.begin_object();
    out.field("count", gaps.count_by_cause[i]);
    out.field("time_ns", gaps.time_by_cause[i]);
    out.end_object();
  }
  out.end_object();
  out.key("longest");
  out.begin_array();
  for (const timeline::Gap& gap : gaps.longest) {
    if (gap.length == 0) break;
    out.begin_object();
    out.field("at_ns", gap.at);
    out.field("length_ns", gap.length);
    out.field("cause", timeline::gap_cause_name(gap.cause));
    out.end_object();
  }
  out.end_array();
  out.end_object();
}

void side_fields(Writer& out, const Call& call, const timeline::StageList& list) {
  out.key("client");
  out.begin_object();
  text_field(out, "address", call.client_address);
  connection_fields(out, call.client);
  out.field("blocked_ns", call.client_blocked_ns);
  out.field("request_bytes", call.request_bytes);
  out.field("response_bytes", call.response_bytes);
  out.end_object();
  out.key("gateway");
  out.begin_object();
  out.field("overhead_ns", call.overhead_ns);
  out.field("loop_late_max_ns", call.loop_late_max_ns);
  out.field("heartbeats", call.heartbeats);
  out.field("stamps_clamped", call.stamps_clamped);
  out.field("stages_clamped", list.clamped);
  out.field("unexplained_ns", list.unexplained);
  out.end_object();
}

double milliseconds(Nanos duration) {
  return static_cast<double>(duration / kMicrosecond) / 1000;
}

}  // namespace

void append_call_json(std::string& out, const Call& call) {
  const timeline::StageList list = timeline::stages(call);
  Writer writer(out);
  writer.begin_object();
  identity_fields(writer, call);
  time_fields(writer, call, list);
  route_fields(writer, call);
  engine_field(writer, call);
  token_fields(writer, call);
  gaps_field(writer, call.gaps);
  side_fields(writer, call, list);
  writer.end_object();
}

void append_access_log(std::string& out, const Call& call) {
  Writer writer(out);
  writer.begin_object();
  writer.field("id", call.id.view());
  writer.field("trace_id", call.trace.hex());
  text_field(writer, "key", call.key);
  text_field(writer, "model", call.model);
  const Attempt* winner = call.winner();
  text_field(writer, "channel", winner == nullptr ? std::string_view() : winner->channel);
  writer.field("dialect", dialect_name(call.dialect));
  writer.field("outcome", outcome_name(call.outcome));
  writer.field("status", call.status);
  text_field(writer, "error", call.error.code);
  four_times(writer, call);
  writer.field("total_ms", milliseconds(timeline::stages(call).total));
  const Nanos ttft = timeline::ttft_ns(call);
  if (ttft < 0) {
    writer.field_null("ttft_ms");
  } else {
    writer.field("ttft_ms", milliseconds(ttft));
  }
  writer.field("tokens_input", call.tokens.input);
  writer.field("tokens_output", call.tokens.output);
  writer.end_object();
  out += '\n';
}

}  // namespace hw::store
