#include "neutral/fidelity.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/text.h"

namespace hw::translate {
namespace {

using enum Action;
using F = Feature;

constexpr std::array<Rule, kFeatureCount> kRules{{
    {F::kSystemInside, "messages[].role", "input[].role", "messages[].role", kKeep, kKeep, kConvert,
     "Messages gets it as a text of the user's turn at that place, between `<system>` and "
     "`</system>`: "
     "moved to the front it would be read out of order and spoil the prompt cache."},
    {F::kDeveloperRole, "messages[].role", "input[].role", "", kConvert, kKeep, kConvert,
     "The same as system: many servers of the chat dialect know no developer."},
    {F::kParticipantName, "messages[].name", "", "", kKeep, kDrop, kDrop, ""},
    {F::kImageUrl, "messages[].content[].image_url", "input[].content[].image_url",
     "messages[].content[].source", kKeep, kKeep, kKeep, "By URL and as base64."},
    {F::kImageFile, "", "input[].content[].file_id", "messages[].content[].source.file_id", kRefuse,
     kRefuse, kRefuse, "A file's id means nothing to another provider."},
    {F::kImageDetail, "messages[].content[].image_url.detail", "input[].content[].detail", "",
     kKeep, kKeep, kDrop, ""},
    {F::kDocumentBase64, "messages[].content[].file.file_data", "input[].content[].file_data",
     "messages[].content[].source.data", kKeep, kKeep, kKeep, ""},
    {F::kDocumentUrl, "", "input[].content[].file_url", "messages[].content[].source.url", kRefuse,
     kKeep, kKeep, "Chat takes documents by their bytes only."},
    {F::kDocumentText, "", "", "messages[].content[].source", kConvert, kConvert, kKeep,
     "A document of plain text becomes a text, its title in front."},
    {F::kDocumentFile, "messages[].content[].file.file_id", "input[].content[].file_id",
     "messages[].content[].source.file_id", kRefuse, kRefuse, kRefuse,
     "A file's id means nothing to another provider."},
    {F::kDocumentContext, "", "", "messages[].content[].context", kDrop, kDrop, kKeep, ""},
    {F::kAudio, "messages[].content[].input_audio", "input[].content[].input_audio", "", kKeep,
     kKeep, kRefuse, "Messages takes no sound."},
    {F::kForeignPart, "messages[].content[]", "input[]", "messages[].content[]", kDrop, kDrop,
     kDrop,
     "Calls of server-side tools and their results, and parts that only one dialect knows; "
     "the mark names the type."},
    {F::kCitations, "messages[].annotations", "input[].content[].annotations",
     "messages[].content[].citations", kDrop, kDrop, kDrop,
     "Of what was said before; in answers they are converted where they name a URL."},
    {F::kReasoning, "messages[].reasoning_content", "input[].encrypted_content",
     "messages[].content[].thinking", kKeep, kKeep, kKeep,
     "Thinking goes back to the maker byte for byte, with what proves it: a signature travels "
     "through other dialects in an envelope."},
    {F::kReasoningForeign, "messages[].reasoning_content", "input[].summary",
     "messages[].content[].thinking", kConvert, kDrop, kDrop,
     "Without a proof of its own, messages and responses refuse it; chat gets its text as "
     "reasoning_content."},
    {F::kToolResultError, "", "", "messages[].content[].is_error", kConvert, kConvert, kKeep,
     "The result's text begins with `Error: `."},
    {F::kToolResultImage, "", "input[].output[]", "messages[].content[].content[]", kConvert, kKeep,
     kKeep, "Chat gets it in a user message behind the results."},
    {F::kCustomTool, "tools[].custom", "tools[]", "", kConvert, kKeep, kConvert,
     "Becomes a function with one string argument, `input`; its calls are turned back."},
    {F::kCustomToolFormat, "tools[].custom.format", "tools[].format", "", kConvert, kKeep, kConvert,
     "The grammar is put into the tool's description."},
    {F::kToolNamespace, "", "tools[].tools", "", kConvert, kKeep, kConvert,
     "The tools of a namespace are called namespace__tool; answers name them as the client did."},
    {F::kServerTool, "web_search_options", "tools[]", "tools[]", kDrop, kDrop, kDrop,
     "Tools that the provider runs: no other provider runs them alike; the mark names the type."},
    {F::kToolStrict, "tools[].function.strict", "tools[].strict", "tools[].strict", kKeep, kKeep,
     kKeep, ""},
    {F::kDeferredTool, "", "", "tools[].defer_loading", kDrop, kDrop, kKeep,
     "The tool is declared like any other."},
    {F::kToolMember, "tools[]", "tools[]", "tools[]", kDrop, kDrop, kDrop,
     "The mark names the member."},
    {F::kAllowedTools, "tool_choice.allowed_tools", "tool_choice.tools", "", kKeep, kKeep, kConvert,
     "The other tools are not declared."},
    {F::kNoParallelCalls, "parallel_tool_calls", "parallel_tool_calls",
     "tool_choice.disable_parallel_tool_use", kKeep, kKeep, kKeep, ""},
    {F::kThinking, "reasoning_effort", "reasoning.effort", "thinking", kConvert, kConvert, kConvert,
     "An effort becomes a budget of 1,024 (minimal, low), 4,096 (medium) or 16,384 tokens (above), "
     "a budget the effort that it is nearest to; adaptive thinking is left to the model where "
     "output_config names no effort. Messages thinks with at most half of max_tokens, only if no "
     "call of a tool in the running turn lacks its thinking and none is forced, and then without "
     "temperature, top_p and top_k."},
    {F::kThinkingDisplay, "", "", "thinking.display", kDrop, kDrop, kKeep, ""},
    {F::kReasoningSummary, "", "reasoning.summary", "", kDrop, kKeep, kConvert,
     "Messages always shows its thinking."},
    {F::kJsonObject, "response_format", "text.format", "", kKeep, kKeep, kDrop,
     "Messages knows schemas only."},
    {F::kJsonSchema, "response_format", "text.format", "output_config.format", kKeep, kKeep, kKeep,
     "Messages has no place for its description."},
    {F::kVerbosity, "verbosity", "text.verbosity", "", kKeep, kKeep, kDrop, ""},
    {F::kMaxTokens, "max_completion_tokens", "max_output_tokens", "max_tokens", kKeep, kKeep, kKeep,
     "Messages needs one: where it is absent the channel's max_tokens_default is sent."},
    {F::kStopSequences, "stop", "", "stop_sequences", kKeep, kDrop, kKeep,
     "Messages refuses sequences of white space: they are left out."},
    {F::kTemperature, "temperature", "temperature", "temperature", kKeep, kKeep, kConvert,
     "Messages ends at 1; what is above becomes 1."},
    {F::kTopP, "top_p", "top_p", "top_p", kKeep, kKeep, kKeep,
     "Messages takes one of temperature and top_p: beside a temperature it is left out."},
    {F::kTopK, "top_k", "", "top_k", kDrop, kDrop, kKeep,
     "Chat servers beside OpenAI's take it: see the channel's extra_fields."},
    {F::kSeed, "seed", "", "", kKeep, kDrop, kDrop, ""},
    {F::kPenalties, "frequency_penalty", "", "", kKeep, kDrop, kDrop, "And presence_penalty."},
    {F::kLogitBias, "logit_bias", "", "", kKeep, kDrop, kDrop, ""},
    {F::kLogprobs, "logprobs", "top_logprobs", "", kKeep, kKeep, kDrop, ""},
    {F::kChoices, "n", "", "", kKeep, kRefuse, kRefuse, "One answer only."},
    {F::kUser, "user", "user", "metadata.user_id", kConvert, kConvert, kKeep,
     "As user where it has at most 64 bytes; a longer one (Claude Code puts its session there) "
     "becomes a prompt_cache_key by its digest."},
    {F::kSafetyIdentifier, "safety_identifier", "safety_identifier", "", kKeep, kKeep, kConvert,
     "Becomes metadata.user_id where there is no user."},
    {F::kMetadata, "metadata", "metadata", "", kKeep, kKeep, kDrop, ""},
    {F::kPromptCacheKey, "prompt_cache_key", "prompt_cache_key", "", kKeep, kKeep, kDrop, ""},
    {F::kServiceTier, "service_tier", "service_tier", "service_tier", kConvert, kConvert, kDrop,
     "Kept between chat and responses; the providers' tiers have nothing in common."},
    {F::kStore, "store", "store", "", kKeep, kKeep, kDrop,
     "`false` is what messages does anyway and no loss."},
    {F::kCacheControl, "cache_control", "", "cache_control", kDrop, kDrop, kKeep,
     "OpenAI's cache needs no marks."},
    {F::kStoredState, "", "previous_response_id", "thread", kRefuse, kRefuse, kRefuse,
     "Also conversation and prompt. The answer is the one on which the SDKs send the whole history "
     "instead."},
    {F::kBackground, "", "background", "", kRefuse, kKeep, kRefuse, ""},
    {F::kAudioOutput, "modalities", "", "", kKeep, kRefuse, kRefuse, "And audio."},
    {F::kOtherField, "", "", "", kDrop, kDrop, kDrop,
     "Any other field; the mark is its name. A channel's extra_fields are kept."},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].feature != static_cast<Feature>(i)) return false;
  }
  return true;
}
static_assert(in_order());

std::string_view name_in(const Rule& rule, Dialect dialect) {
  if (dialect == Dialect::kOpenaiChat) return rule.chat;
  return dialect == Dialect::kOpenaiResponses ? rule.responses : rule.messages;
}

// Clients send fields of other dialects too; those have the name that they have there.
std::string_view shown_name(const Rule& rule, Dialect dialect) {
  for (const std::string_view name :
       {name_in(rule, dialect), rule.chat, rule.responses, rule.messages}) {
    if (!name.empty()) return name;
  }
  return "?";
}

Action action_to(const Rule& rule, Dialect dialect) {
  if (dialect == Dialect::kOpenaiChat) return rule.to_chat;
  return dialect == Dialect::kOpenaiResponses ? rule.to_responses : rule.to_messages;
}

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule& rule(Feature feature) {
  return kRules[static_cast<size_t>(feature)];
}

std::string_view rule_name(Feature feature, Dialect dialect) {
  return name_in(rule(feature), dialect);
}

std::string_view action_name(Action action) {
  switch (action) {
    case kKeep:
      return "keep";
    case kConvert:
      return "convert";
    case kDrop:
      return "drop";
    case kRefuse:
      return "refuse";
  }
  return "";
}

Action Fidelity::meet(Feature feature, std::string_view name) {
  const Rule& met = rule(feature);
  const Action action = action_to(met, to_);
  if (name.empty()) name = shown_name(met, from_);
  switch (action) {
    case kKeep:
    case kConvert:
      break;
    case kDrop:
      mark(name);
      break;
    case kRefuse:
      refuse(name, met.how);
      break;
  }
  return action;
}

void Fidelity::lose(Feature feature) {
  mark(shown_name(rule(feature), from_));
}

void Fidelity::mark(std::string_view name) {
  if (std::find(lossy_.begin(), lossy_.end(), name) != lossy_.end()) return;
  if (lossy_.size() < kMarksMax) {
    lossy_.emplace_back(name);
  } else if (lossy_.size() == kMarksMax) {
    lossy_.emplace_back("...");
  }
}

void Fidelity::refuse(std::string_view name, std::string_view why) {
  if (!status_) return;
  status_ = fail(Error(ErrorCode::kUnsupportedField,
                       concat("Your request: `", name,
                              "` cannot be said to this model's channel, "
                              "which speaks ",
                              dialect_name(to_), why.empty() ? "." : ". ", why),
                       std::string(name)));
}

}  // namespace hw::translate
