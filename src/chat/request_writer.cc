#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "chat/dialect.h"
#include "chat/tool_writer.h"
#include "chat/turn_writer.h"
#include "json/writer.h"
#include "neutral/digest.h"

namespace hw::translate {
namespace {

// OpenAI's limit of `user`.
constexpr size_t kUserBytesMax = 64;
// Halfway between the budgets that stand for low, medium and high.
constexpr int64_t kBudgetLow = 2560, kBudgetMedium = 10240;

class ChatRequestWriter {
 public:
  ChatRequestWriter(const Request& request, const Target& target, Fidelity& fidelity,
                    std::string& out)
      : request_(request), target_(target), fidelity_(fidelity), out_(out), writer_(out) {}

  void write();

 private:
  void write_messages();
  void write_stream();
  void write_thinking();
  void write_format();
  void write_json_schema();
  void write_stop();
  void write_sampling();
  void write_logprobs();
  void write_user();
  void write_settings();
  bool takes(std::string_view field) const;
  void text_field(std::string_view name, const Text& text);
  void raw_field(std::string_view name, Raw raw, Feature feature);

  const Request& request_;
  const Target& target_;
  Fidelity& fidelity_;
  std::string& out_;
  json::Writer writer_;
};

void ChatRequestWriter::write() {
  writer_.begin_object();
  writer_.field("model", target_.model);
  write_messages();
  write_stream();
  if (request_.max_tokens && fidelity_.says(Feature::kMaxTokens))
    writer_.field("max_completion_tokens", *request_.max_tokens);
  write_chat_tools(request_, fidelity_, writer_);
  write_thinking();
  write_format();
  if (!request_.verbosity.empty() && fidelity_.says(Feature::kVerbosity))
    text_field("verbosity", request_.verbosity);
  write_stop();
  write_sampling();
  write_logprobs();
  write_user();
  write_settings();
  write_other_fields(request_, target_, fidelity_, writer_);
  writer_.end_object();
}

bool ChatRequestWriter::takes(std::string_view field) const {
  const auto& extra = target_.extra_fields;
  return std::find(extra.begin(), extra.end(), field) != extra.end();
}

void ChatRequestWriter::text_field(std::string_view name, const Text& text) {
  writer_.key(name);
  std::string value;
  text.append_json(value);
  writer_.raw(value);
}

void ChatRequestWriter::raw_field(std::string_view name, Raw raw, Feature feature) {
  if (!raw.empty() && fidelity_.says(feature)) writer_.field_raw(name, raw);
}

void ChatRequestWriter::write_messages() {
  writer_.key("messages");
  writer_.begin_array();
  ChatTurnWriter(fidelity_, out_).write(request_);
  writer_.end_array();
}

void ChatRequestWriter::write_stream() {
  if (!request_.stream) return;
  writer_.field("stream", true);
  if (!target_.ask_for_usage || request_.include_usage == false) return;
  writer_.field_raw("stream_options", R"({"include_usage":true})");
}

// No thinking is said in responses' word only: messages does not think unless it is told to, and
// few servers know the word.
void ChatRequestWriter::write_thinking() {
  const Thinking& thinking = request_.thinking;
  if (!thinking.display.empty()) fidelity_.meet(Feature::kThinkingDisplay);
  if (!thinking.summary.empty()) fidelity_.meet(Feature::kReasoningSummary);
  const bool off = thinking.kind == Thinking::Kind::kOff;
  if (off && request_.dialect == Dialect::kAnthropicMessages) return;
  if (!off && thinking.effort.empty() && !thinking.budget) return;
  if (!fidelity_.says(Feature::kThinking)) return;
  if (off) {
    writer_.field("reasoning_effort", "none");
  } else if (thinking.effort.is("max")) {
    writer_.field("reasoning_effort", "high");
  } else if (!thinking.effort.empty()) {
    text_field("reasoning_effort", thinking.effort);
  } else {
    const int64_t budget = *thinking.budget;
    writer_.field("reasoning_effort", budget < kBudgetLow      ? "low"
                                      : budget < kBudgetMedium ? "medium"
                                                               : "high");
  }
}

void ChatRequestWriter::write_format() {
  switch (request_.format.kind) {
    case Format::Kind::kAbsent:
    case Format::Kind::kText:
      return;
    case Format::Kind::kJsonObject:
      if (fidelity_.says(Feature::kJsonObject))
        writer_.field_raw("response_format", R"({"type":"json_object"})");
      return;
    case Format::Kind::kJsonSchema:
      if (fidelity_.says(Feature::kJsonSchema)) write_json_schema();
      return;
  }
}

// Chat wants a name.
void ChatRequestWriter::write_json_schema() {
  const Format& format = request_.format;
  writer_.key("response_format");
  writer_.begin_object();
  writer_.field("type", "json_schema");
  writer_.key("json_schema");
  writer_.begin_object();
  text_field("name", format.name.empty() ? Text::plain("response") : format.name);
  if (!format.description.empty()) text_field("description", format.description);
  if (!format.schema.empty()) writer_.field_raw("schema", format.schema);
  if (format.strict) writer_.field("strict", *format.strict);
  writer_.end_object();
  writer_.end_object();
}

void ChatRequestWriter::write_stop() {
  if (request_.stop.empty() || !fidelity_.says(Feature::kStopSequences)) return;
  std::string list;
  for (const Text& stop : request_.stop) {
    list += list.empty() ? '[' : ',';
    stop.append_json(list);
  }
  list += ']';
  writer_.field_raw("stop", list);
}

void ChatRequestWriter::write_sampling() {
  raw_field("temperature", request_.temperature, Feature::kTemperature);
  raw_field("top_p", request_.top_p, Feature::kTopP);
  raw_field("seed", request_.seed, Feature::kSeed);
  raw_field("frequency_penalty", request_.frequency_penalty, Feature::kPenalties);
  raw_field("presence_penalty", request_.presence_penalty, Feature::kPenalties);
  raw_field("logit_bias", request_.logit_bias, Feature::kLogitBias);
  if (request_.top_k.empty()) return;
  if (takes("top_k")) {
    writer_.field_raw("top_k", request_.top_k);
  } else {
    fidelity_.meet(Feature::kTopK);
  }
}

void ChatRequestWriter::write_logprobs() {
  if (!request_.logprobs || !fidelity_.says(Feature::kLogprobs)) return;
  writer_.field("logprobs", true);
  if (!request_.top_logprobs.empty()) writer_.field_raw("top_logprobs", request_.top_logprobs);
}

// A long user, as Claude Code's, is one session's: what it says to a model's server is which
// requests share their beginning.
void ChatRequestWriter::write_user() {
  std::string digest;
  if (!request_.user.empty() && fidelity_.says(Feature::kUser)) {
    const std::string user = request_.user.str();
    if (user.size() <= kUserBytesMax) {
      text_field("user", request_.user);
    } else {
      append_digest(digest, user);
    }
  }
  if (!request_.prompt_cache_key.empty()) {
    if (fidelity_.says(Feature::kPromptCacheKey))
      text_field("prompt_cache_key", request_.prompt_cache_key);
  } else if (!digest.empty()) {
    writer_.field("prompt_cache_key", digest);
  }
  if (!request_.safety_identifier.empty() && fidelity_.says(Feature::kSafetyIdentifier))
    text_field("safety_identifier", request_.safety_identifier);
}

void ChatRequestWriter::write_settings() {
  raw_field("metadata", request_.metadata, Feature::kMetadata);
  // Not to store is what chat does anyway.
  if (request_.store == true && fidelity_.says(Feature::kStore)) writer_.field("store", true);
  const Text& tier = request_.service_tier;
  if (tier.empty() || tier.is("auto")) return;
  if (request_.dialect == Dialect::kAnthropicMessages) {
    fidelity_.lose(Feature::kServiceTier);
  } else if (fidelity_.says(Feature::kServiceTier)) {
    text_field("service_tier", tier);
  }
}

}  // namespace

void write_chat_request(const Request& request, const Target& target, Fidelity& fidelity,
                        std::string& out) {
  ChatRequestWriter(request, target, fidelity, out).write();
}

}  // namespace hw::translate
