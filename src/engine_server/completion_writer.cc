#include "engine_server/completion_writer.h"

#include <optional>

#include "base/assert.h"
#include "base/text.h"
#include "json/writer.h"

namespace hw::engine_server {
namespace {

using engine::Record;

// Milliseconds with six decimals: every nanosecond, exactly.
void append_ms(std::string& out, Nanos ns) {
  append(out, ns / kMillisecond);
  const std::string decimals = concat(ns % kMillisecond);
  out += '.';
  out.append(6 - decimals.size(), '0');
  out += decimals;
}

void field_ms(json::Writer& writer, std::string_view name, const std::optional<Nanos>& ns) {
  if (!ns) return writer.field_null(name);
  std::string ms;
  append_ms(ms, *ns);
  writer.field_raw(name, ms);
}

void write_usage(json::Writer& writer, const Record& record) {
  writer.begin_object();
  writer.field("prompt_tokens", record.prompt_tokens);
  writer.field("completion_tokens", record.output_tokens);
  writer.field("total_tokens", record.prompt_tokens + record.output_tokens);
  writer.key("prompt_tokens_details");
  writer.begin_object();
  writer.field("cached_tokens", record.cached_tokens);
  writer.end_object();
  writer.end_object();
}

// The durations under vLLM's names (its --enable-per-request-metrics).
std::string metrics_of(const Record& record) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  field_ms(writer, "time_to_first_token_ms", record.prefill_ns);  // from its first step
  field_ms(writer, "generation_time_ms", record.decode_ns);
  field_ms(writer, "queue_time_ms", record.queue_ns);
  const bool several = record.decode_ns && *record.decode_ns > 0 && record.output_tokens > 1;
  if (several) {
    field_ms(writer, "mean_itl_ms", *record.decode_ns / (record.output_tokens - 1));
    writer.field("tokens_per_second",
                 (record.output_tokens - 1) * 1e9 / static_cast<double>(*record.decode_ns));
  } else {
    writer.field_null("mean_itl_ms");
    writer.field_null("tokens_per_second");
  }
  writer.end_object();
  return out;
}

std::string timings_of(const Record& record) {
  std::string out;
  append_timings(out, record);
  return out;
}

void write_identity(json::Writer& writer, const AnswerIdentity& identity, std::string_view object) {
  writer.field("id", identity.id);
  writer.field("object", object);
  writer.field("created", identity.created_s);
  writer.field("model", identity.model);
}

}  // namespace

std::string_view finish_word(engine::FinishReason reason) {
  HW_ASSERT(reason == engine::FinishReason::kStop || reason == engine::FinishReason::kLength);
  return reason == engine::FinishReason::kStop ? "stop" : "length";
}

void append_timings(std::string& out, const Record& record) {
  json::Writer writer(out);
  writer.begin_object();
  writer.field("source", "headway");
  field_ms(writer, "queue_ms", record.queue_ns);
  field_ms(writer, "prefill_ms", record.prefill_ns);
  field_ms(writer, "first_token_ms", record.first_token_ns);
  field_ms(writer, "decode_ms", record.decode_ns);
  writer.field("cached_tokens", record.cached_tokens);
  writer.field("prompt_n", record.prompt_tokens);
  writer.field("predicted_n", record.output_tokens);
  writer.field("preemptions", record.preemptions);
  writer.field("steps_waited", record.waits.steps_waited());
  writer.field("held_by", scheduler::hold_name(record.waits.longest()));
  writer.end_object();
}

std::string server_timing(const Record& record) {
  std::string out;
  const auto add = [&out](std::string_view name, const std::optional<Nanos>& ns) {
    if (!ns) return;
    if (!out.empty()) out += ", ";
    append(out, name);
    out += ";dur=";
    append_ms(out, *ns);
  };
  add("queue", record.queue_ns);
  add("prefill", record.prefill_ns);
  add("decode", record.decode_ns);
  add("first-token", record.first_token_ns);
  return out;
}

std::string completion_body(const AnswerIdentity& identity, std::string_view text,
                            const engine::Ending& ending) {
  const bool chat = identity.dialect == Dialect::kOpenaiChat;
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  write_identity(writer, identity, chat ? "chat.completion" : "text_completion");
  writer.key("choices");
  writer.begin_array();
  writer.begin_object();
  writer.field("index", 0);
  if (chat) {
    writer.key("message");
    writer.begin_object();
    writer.field("role", "assistant");
    writer.field("content", text);
    writer.field_null("refusal");
    writer.end_object();
  } else {
    writer.field("text", text);
  }
  writer.field_null("logprobs");
  writer.field("finish_reason", finish_word(ending.reason));
  writer.end_object();
  writer.end_array();
  writer.key("usage");
  write_usage(writer, ending.record);
  writer.field_raw("timings", timings_of(ending.record));
  writer.field_raw("metrics", metrics_of(ending.record));
  writer.end_object();
  return out;
}

ChunkWriter::ChunkWriter(const AnswerIdentity& identity, Usage usage)
    : dialect_(identity.dialect), usage_(usage) {
  const bool chat = dialect_ == Dialect::kOpenaiChat;
  json::Writer writer(prefix_);
  writer.begin_object();
  write_identity(writer, identity, chat ? "chat.completion.chunk" : "text_completion");
  prefix_.insert(0, "data: ");
  prefix_ += ",\"choices\":[";
}

void ChunkWriter::begin(std::string& out) const {
  out += prefix_;
}

void ChunkWriter::end(std::string& out) const {
  out += ']';
  if (usage_ == Usage::kLastChunk) out += ",\"usage\":null";
  out += "}\n\n";
}

void ChunkWriter::append_role(std::string& out) const {
  if (dialect_ != Dialect::kOpenaiChat) return;
  begin(out);
  out += R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,)"
         R"("finish_reason":null})";
  end(out);
}

void ChunkWriter::append_text(std::string& out, std::string_view text) const {
  begin(out);
  if (dialect_ == Dialect::kOpenaiChat) {
    out += R"({"index":0,"delta":{"content":)";
    json::append_quoted(out, text);
    out += '}';
  } else {
    out += R"({"index":0,"text":)";
    json::append_quoted(out, text);
  }
  out += R"(,"logprobs":null,"finish_reason":null})";
  end(out);
}

void ChunkWriter::append_end(std::string& out, const engine::Ending& ending) const {
  begin(out);
  out += dialect_ == Dialect::kOpenaiChat ? R"({"index":0,"delta":{})" : R"({"index":0,"text":"")";
  out += R"(,"logprobs":null,"finish_reason":")";
  out += finish_word(ending.reason);
  out += "\"}]";
  if (usage_ == Usage::kLastChunk) out += ",\"usage\":null";
  out += ",\"timings\":";
  append_timings(out, ending.record);
  out += concat(",\"metrics\":", metrics_of(ending.record));
  out += "}\n\n";
  if (usage_ == Usage::kLastChunk) {
    begin(out);
    out += "],\"usage\":";
    json::Writer writer(out);
    write_usage(writer, ending.record);
    out += "}\n\n";
  }
  out += "data: [DONE]\n\n";
}

}  // namespace hw::engine_server
