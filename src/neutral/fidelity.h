// Fidelity: the written rules for what one dialect can say and another cannot, and the account of
// what a translation lost by them. docs/dialects.md is the same table for people; a test compares.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "base/result.h"

namespace hw::translate {

// What becomes of a field on its way to another dialect.
enum class Action : uint8_t {
  kKeep,     // said in the same words
  kConvert,  // said in other words that mean the same, or as near as the rule tells
  kDrop,     // left out; the call's `lossy` list names it
  kRefuse,   // the request is a 400 that names it
};

// The fields for which the dialects differ. What all three say alike (text, function tools, plain
// messages) needs no rule.
enum class Feature : uint8_t {
  kSystemInside,  // a system or developer turn behind the first user turn
  kDeveloperRole,
  kParticipantName,
  kImageUrl,
  kImageFile,
  kImageDetail,
  kDocumentBase64,
  kDocumentUrl,
  kDocumentText,
  kDocumentFile,
  kDocumentContext,
  kAudio,
  kForeignPart,  // a part or item that only the request's dialect knows
  kCitations,
  kReasoning,         // thinking that came from this upstream earlier
  kReasoningForeign,  // thinking of another maker, or without a signature
  kToolResultError,
  kToolResultImage,
  kCustomTool,
  kCustomToolFormat,
  kToolNamespace,
  kServerTool,
  kToolStrict,
  kDeferredTool,
  kToolMember,  // a member of a tool that has no counterpart
  kAllowedTools,
  kNoParallelCalls,
  kThinking,
  kThinkingDisplay,
  kReasoningSummary,
  kJsonObject,
  kJsonSchema,
  kVerbosity,
  kMaxTokens,
  kStopSequences,
  kTemperature,
  kTopP,
  kTopK,
  kSeed,
  kPenalties,
  kLogitBias,
  kLogprobs,
  kChoices,  // n above 1
  kUser,
  kSafetyIdentifier,
  kMetadata,
  kPromptCacheKey,
  kServiceTier,
  kStore,
  kCacheControl,
  kStoredState,  // previous_response_id, conversation, prompt, thread
  kBackground,
  kAudioOutput,
  kOtherField,  // any other field
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kOtherField) + 1;

// One row of the table.
struct Rule {
  Feature feature;
  // The field's name in chat, responses and messages; empty where the dialect has none.
  std::string_view chat, responses, messages;
  // What becomes of it in a request to an upstream of that dialect.
  Action to_chat, to_responses, to_messages;
  std::string_view how;  // what is said instead, and why; one sentence or two
};

// All rules, in the order of Feature.
std::span<const Rule> rules();
const Rule& rule(Feature feature);
// The field's name in a dialect; empty where it has none.
std::string_view rule_name(Feature feature, Dialect dialect);
// "keep", "convert", "drop", "refuse".
std::string_view action_name(Action action);

// One translation's account. Not thread-safe.
class Fidelity {
 public:
  // More marks than this are counted as "...".
  static constexpr size_t kMarksMax = 32;

  Fidelity(Dialect from, Dialect to) : from_(from), to_(to) {}

  // What becomes of `feature`. A drop is marked and a refusal kept, under the rule's name of the
  // field in the client's dialect, or under `name` where one is given.
  Action meet(Feature feature, std::string_view name = {});
  // True where it is to be said (keep or convert).
  bool says(Feature feature, std::string_view name = {}) {
    const Action action = meet(feature, name);
    return action == Action::kKeep || action == Action::kConvert;
  }
  // Marks a field as lost whose rule would keep it: this value of it cannot be said.
  void lose(Feature feature);
  // Marks something else as lost.
  void mark(std::string_view name);
  // Refuses the request, once; the message names the field.
  void refuse(std::string_view name, std::string_view why);

  // The fields that were lost, each once, in the order met.
  const std::vector<std::string>& lossy() const { return lossy_; }
  std::vector<std::string> take_lossy() { return std::move(lossy_); }
  // kBadRequest with the first refusal's words.
  const Status& status() const { return status_; }

 private:
  Dialect from_, to_;
  std::vector<std::string> lossy_;
  Status status_;
};

}  // namespace hw::translate
