#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/scan.h"
#include "json/writer.h"
#include "messages/dialect.h"
#include "messages/tool_writer.h"
#include "messages/turn_writer.h"

namespace hw::translate {
namespace {

// Budgets of thinking, in tokens. The smallest is Anthropic's lower bound.
constexpr int64_t kBudgetMin = 1024, kBudgetMedium = 4096, kBudgetHigh = 16384;

double number(Raw raw) {
  return std::strtod(std::string(raw).c_str(), nullptr);
}

// Whether a map has members.
bool has_members(Raw raw) {
  json::Document document;
  return !raw.empty() && document.open(raw) && !document.root().empty();
}

class MessagesWriter {
 public:
  MessagesWriter(const Request& request, const Target& target, Fidelity& fidelity, std::string& out)
      : request_(request), target_(target), fidelity_(fidelity), writer_(out) {}

  void write();

 private:
  void write_elements(std::string_view name, const std::string& elements);
  bool write_thinking(bool may_think);
  void write_format();
  void write_stop_sequences();
  void write_sampling(bool thinks);
  void write_user();
  void meet_settings();
  void meet_sampling();
  int64_t max_tokens() const { return request_.max_tokens.value_or(target_.max_tokens_default); }
  int64_t budget() const;

  const Request& request_;
  const Target& target_;
  Fidelity& fidelity_;
  json::Writer writer_;
};

void MessagesWriter::write() {
  const MessagesTurnWriter turns(request_, fidelity_);
  writer_.begin_object();
  writer_.field("model", target_.model);
  writer_.field("max_tokens", max_tokens());
  if (!turns.system().empty()) write_elements("system", turns.system());
  write_elements("messages", turns.messages());
  const bool must_call = write_messages_tools(request_, fidelity_, writer_);
  const bool thinks = write_thinking(!must_call && !turns.lacks_thinking());
  write_format();
  write_stop_sequences();
  write_sampling(thinks);
  write_user();
  if (request_.stream) writer_.field("stream", true);
  meet_settings();
  meet_sampling();
  write_other_fields(request_, target_, fidelity_, writer_);
  writer_.end_object();
}

void MessagesWriter::write_elements(std::string_view name, const std::string& elements) {
  writer_.key(name);
  writer_.begin_array();
  writer_.raw(elements);
  writer_.end_array();
}

// How many tokens to think, never more than half of the answer; 0: not at all.
int64_t MessagesWriter::budget() const {
  const Thinking& thinking = request_.thinking;
  int64_t budget = kBudgetHigh;
  if (thinking.budget) {
    budget = *thinking.budget;
  } else if (thinking.effort.is("minimal") || thinking.effort.is("low")) {
    budget = kBudgetMin;
  } else if (thinking.effort.is("medium") || thinking.effort.empty()) {
    budget = kBudgetMedium;
  }
  return std::min(budget, max_tokens() / 2);
}

// True where the model is told to think.
bool MessagesWriter::write_thinking(bool may_think) {
  const Thinking& thinking = request_.thinking;
  if (!thinking.summary.empty()) fidelity_.meet(Feature::kReasoningSummary);
  const bool off = thinking.kind == Thinking::Kind::kOff || thinking.effort.is("none");
  const bool asked = thinking.budget || !thinking.effort.empty() ||
                     thinking.kind == Thinking::Kind::kOn ||
                     thinking.kind == Thinking::Kind::kAdaptive;
  if (off || !asked || !fidelity_.says(Feature::kThinking)) return false;
  const int64_t tokens = budget();
  if (!may_think || tokens < kBudgetMin) {
    fidelity_.lose(Feature::kThinking);
    return false;
  }
  writer_.key("thinking");
  writer_.begin_object();
  writer_.field("type", "enabled");
  writer_.field("budget_tokens", tokens);
  writer_.end_object();
  return true;
}

void MessagesWriter::write_format() {
  const Format& format = request_.format;
  if (format.kind == Format::Kind::kJsonObject) fidelity_.meet(Feature::kJsonObject);
  if (format.kind != Format::Kind::kJsonSchema || !fidelity_.says(Feature::kJsonSchema)) return;
  if (!format.description.empty())
    fidelity_.mark(concat(rule_name(Feature::kJsonSchema, request_.dialect), ".description"));
  writer_.key("output_config");
  writer_.begin_object();
  writer_.key("format");
  writer_.begin_object();
  writer_.field("type", "json_schema");
  writer_.field_raw("schema", format.schema.empty() ? R"({"type":"object"})" : format.schema);
  writer_.end_object();
  writer_.end_object();
}

// Sequences of white space alone are refused.
void MessagesWriter::write_stop_sequences() {
  bool any = false;
  for (const Text& stop : request_.stop) {
    const std::string text = stop.str();
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
      fidelity_.lose(Feature::kStopSequences);
      continue;
    }
    if (!any) {
      writer_.key("stop_sequences");
      writer_.begin_array();
    }
    any = true;
    writer_.value(text);
  }
  if (any) writer_.end_array();
}

// A thinking model takes none of the three, and others one of temperature and top_p; 1 is what both
// are anyway.
void MessagesWriter::write_sampling(bool thinks) {
  const bool warm = !request_.temperature.empty() && number(request_.temperature) != 1;
  const bool cut = !request_.top_p.empty() && number(request_.top_p) != 1;
  if (warm && thinks) fidelity_.lose(Feature::kTemperature);
  if (cut && (thinks || warm)) fidelity_.lose(Feature::kTopP);
  if (warm && !thinks && fidelity_.says(Feature::kTemperature)) {
    const bool above = number(request_.temperature) > 1;
    writer_.field_raw("temperature", above ? Raw("1") : request_.temperature);
  }
  if (cut && !thinks && !warm && fidelity_.says(Feature::kTopP))
    writer_.field_raw("top_p", request_.top_p);
  if (request_.top_k.empty()) return;
  if (thinks) {
    fidelity_.lose(Feature::kTopK);
  } else if (fidelity_.says(Feature::kTopK)) {
    writer_.field_raw("top_k", request_.top_k);
  }
}

void MessagesWriter::write_user() {
  const bool user = !request_.user.empty() && fidelity_.says(Feature::kUser);
  const bool safety = !request_.safety_identifier.empty();
  if (user && safety) fidelity_.lose(Feature::kSafetyIdentifier);
  if (!user && !(safety && fidelity_.says(Feature::kSafetyIdentifier))) return;
  std::string metadata = R"({"user_id":)";
  (user ? request_.user : request_.safety_identifier).append_json(metadata);
  metadata += '}';
  writer_.field_raw("metadata", metadata);
}

// What stands at its default loses nothing.
void MessagesWriter::meet_settings() {
  if (has_members(request_.metadata)) fidelity_.meet(Feature::kMetadata);
  if (!request_.prompt_cache_key.empty()) fidelity_.meet(Feature::kPromptCacheKey);
  const Text& tier = request_.service_tier;
  if (!tier.empty() && !tier.is("auto") && !tier.is("default"))
    fidelity_.meet(Feature::kServiceTier);
  if (request_.store == true) fidelity_.meet(Feature::kStore);
  if (!request_.verbosity.empty() && !request_.verbosity.is("medium"))
    fidelity_.meet(Feature::kVerbosity);
  if (request_.n > 1) fidelity_.meet(Feature::kChoices);
}

void MessagesWriter::meet_sampling() {
  if (!request_.seed.empty()) fidelity_.meet(Feature::kSeed);
  if (!request_.frequency_penalty.empty() && number(request_.frequency_penalty) != 0)
    fidelity_.meet(Feature::kPenalties);
  if (!request_.presence_penalty.empty() && number(request_.presence_penalty) != 0)
    fidelity_.meet(Feature::kPenalties, "presence_penalty");
  if (has_members(request_.logit_bias)) fidelity_.meet(Feature::kLogitBias);
  if (request_.logprobs || (!request_.top_logprobs.empty() && number(request_.top_logprobs) > 0))
    fidelity_.meet(Feature::kLogprobs);
}

}  // namespace

void write_messages_request(const Request& request, const Target& target, Fidelity& fidelity,
                            std::string& out) {
  MessagesWriter(request, target, fidelity, out).write();
}

}  // namespace hw::translate
