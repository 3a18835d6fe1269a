// The response that an answer in responses is: its items as far as they are known, and the JSON of
// them and of the object around them, which streamed and whole answers write alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neutral/answer_usage.h"
#include "neutral/event.h"
#include "responses/dialect.h"
#include "wire/spoken_error.h"

namespace hw::translate {

// How far an item or a response is.
enum class ItemStatus : uint8_t { kInProgress, kCompleted, kIncomplete, kFailed };

// One part of a message, or one section of a summary of thinking. Texts are what stands between the
// quotes of a JSON string, lists what stands between brackets.
struct OutputPart {
  bool refusal = false;
  std::string text;
  std::string annotations;
  std::string logprobs;
  size_t annotation_count = 0;
};

// One item of the output.
struct OutputItem {
  enum class Kind : uint8_t { kMessage, kReasoning, kFunctionCall, kCustomCall };
  Kind kind = Kind::kMessage;
  ItemStatus status = ItemStatus::kInProgress;
  std::string id;
  std::vector<OutputPart> parts;  // of a message; of reasoning: its summary
  std::string head;               // of a call: its members call_id, name and namespace, as JSON
  std::string text;               // of a call: arguments or input, as a part's
  std::string signature;          // of reasoning, as a part's text
};

// An answer's items and figures.
class ResponsesOutput {
 public:
  // `reply` outlives it.
  explicit ResponsesOutput(const Reply& reply) : reply_(reply), usage_(reply) {}

  // Adds an item; its place in the output is its id's last part. References to items last until
  // the next one is added.
  OutputItem& add(OutputItem::Kind kind);
  // The same for a call, named as the client knows the tool. What the client declared as custom is
  // a custom call, whatever the upstream calls it.
  OutputItem& add_call(const BlockBegun& begun);
  std::vector<OutputItem>& items() { return items_; }
  const std::vector<OutputItem>& items() const { return items_; }

  // What the upstream told, and the text that was generated.
  AnswerUsage& usage() { return usage_; }

  // Appends the object. An answer that is in progress has no usage yet; `error` is that of a failed
  // one, else null.
  void append_response(std::string& out, ItemStatus status, StopReason reason,
                       const wire::SpokenError* error) const;
  void append_item(std::string& out, const OutputItem& item) const;
  void append_part(std::string& out, const OutputPart& part) const;

 private:
  void append_usage(std::string& out) const;
  void append_items(std::string& out) const;

  const Reply& reply_;
  std::vector<OutputItem> items_;
  AnswerUsage usage_;
};

// Appends an annotation of another dialect as responses has it, a url_citation; false where it
// names no URL.
bool append_url_citation(std::string& out, Raw annotation);

// Appends a section of a summary.
void append_summary_part(std::string& out, std::string_view text);

}  // namespace hw::translate
