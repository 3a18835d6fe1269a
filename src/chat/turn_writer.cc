#include "chat/turn_writer.h"

#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "chat/media.h"
#include "json/check.h"
#include "json/writer.h"
#include "neutral/call_id.h"
#include "neutral/custom_input.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

// Between the texts of one message, as it stands in a JSON string.
constexpr std::string_view kParagraph = R"(\n\n)";
constexpr std::string_view kErrorPrefix = "Error: ";
// The text of a result that has none because chat cannot say it there.
constexpr std::string_view kShownBelow = "The result is shown below.";

bool is_text(const Part& part) {
  return part.kind == Part::Kind::kText || part.kind == Part::Kind::kRefusal;
}

bool is_media(const Part& part) {
  return part.kind == Part::Kind::kImage || part.kind == Part::Kind::kDocument ||
         part.kind == Part::Kind::kAudio;
}

void append_paragraph(std::string& out) {
  if (!out.empty()) out += kParagraph;
}

// The elements of a JSON array, if it is one that clients cannot have broken.
std::string_view elements_of(std::string_view array) {
  if (array.size() < 2 || array.front() != '[' || array.back() != ']') return {};
  if (!json::is_json_object(concat(R"({"a":)", array, "}"))) return {};
  return array.substr(1, array.size() - 2);
}

}  // namespace

void ChatTurnWriter::write(const Request& request) {
  for (const Turn& turn : request.turns) write_turn(turn);
  end_assistant();
  end_words();
}

void ChatTurnWriter::write_turn(const Turn& turn) {
  if (turn.name.present()) fidelity_.meet(Feature::kParticipantName);
  switch (turn.role) {
    case Role::kAssistant:
      end_words();
      return take_assistant(turn);
    case Role::kDeveloper:
      fidelity_.meet(Feature::kDeveloperRole);
      [[fallthrough]];
    case Role::kSystem:
      end_assistant();
      return write_words("system", turn);
    case Role::kUser:
      end_assistant();
      for (const Part& part : turn.parts) {
        if (part.kind == Part::Kind::kToolResult) write_result(part);
      }
      return write_words("user", turn);
  }
}

// Marks of a piece for which chat has no place.
void ChatTurnWriter::meet_marks(const Part& part) {
  if (!part.cache_control.empty()) fidelity_.meet(Feature::kCacheControl);
  if (!part.context.empty()) fidelity_.meet(Feature::kDocumentContext);
  const bool cited = is_text(part) && (!part.citations.empty() || !part.annotations.empty());
  if (cited) fidelity_.meet(Feature::kCitations);
}

void ChatTurnWriter::begin_message(std::string& out, std::string_view role) {
  if (!out.empty() && out.back() == '}') out += ',';
  append(out, R"({"role":")");
  append(out, role);
  append(out, R"(","content":)");
}

// What a user or the system says, but for results of tools. It waits behind those of its round.
void ChatTurnWriter::write_words(std::string_view role, const Turn& turn) {
  bool only_text = true;
  for (const Part& part : turn.parts) only_text &= !is_media(part) || is_text_document(part);
  std::string content;
  for (const Part& part : turn.parts) {
    if (part.kind == Part::Kind::kToolResult) continue;
    meet_marks(part);
    if (only_text && is_text(part)) {
      if (part.text.empty()) continue;
      append_paragraph(content);
      part.text.append_escaped(content);
    } else if (only_text && is_text_document(part)) {
      fidelity_.meet(Feature::kDocumentText);
      append_paragraph(content);
      append_text_document(content, part);
    } else {
      append_part(part, content);
    }
  }
  if (content.empty()) return;
  begin_message(words_, role);
  append(words_, only_text ? '"' : '[');
  append(words_, content);
  append(words_, only_text ? '"' : ']');
  append(words_, '}');
}

// An element of a content's array, a comma in front where it is not the first. False where it
// cannot be said.
bool ChatTurnWriter::append_part(const Part& part, std::string& out) {
  const size_t before = out.size();
  if (before > 0) out += ',';
  bool said = false;
  switch (part.kind) {
    case Part::Kind::kText:
    case Part::Kind::kRefusal:
      said = !part.text.empty();
      append(out, R"({"type":"text","text":)");
      part.text.append_json(out);
      append(out, '}');
      break;
    case Part::Kind::kImage:
    case Part::Kind::kDocument:
    case Part::Kind::kAudio:
      said = append_chat_media(out, part, fidelity_);
      break;
    case Part::Kind::kForeign:
      fidelity_.meet(Feature::kForeignPart, part.type);
      break;
    case Part::Kind::kReasoning:
    case Part::Kind::kToolCall:
    case Part::Kind::kToolResult:
      break;  // of the assistant, or written elsewhere
  }
  if (!said) out.resize(before);
  return said;
}

void ChatTurnWriter::write_result(const Part& result) {
  if (!result.cache_control.empty()) fidelity_.meet(Feature::kCacheControl);
  begin_message(out_, "tool");
  out_ += '"';
  if (result.is_error && fidelity_.says(Feature::kToolResultError)) out_ += kErrorPrefix;
  const size_t begin = out_.size();
  bool shown = false;
  for (const Part& part : result.content) {
    meet_marks(part);
    if (is_text(part)) {
      if (part.text.empty()) continue;
      if (out_.size() > begin) out_ += kParagraph;
      part.text.append_escaped(out_);
    } else if (is_text_document(part)) {
      fidelity_.meet(Feature::kDocumentText);
      if (out_.size() > begin) out_ += kParagraph;
      append_text_document(out_, part);
    } else if (is_media(part)) {
      shown = true;
    } else {
      fidelity_.meet(Feature::kForeignPart, part.type);
    }
  }
  if (out_.size() == begin && shown) out_ += kShownBelow;
  append(out_, R"(","tool_call_id":)");
  append_id_up(out_, result.call_id, Dialect::kOpenaiChat);
  out_ += '}';
  if (shown) write_shown(result);
}

// What a result shows, in a message of the user's behind the results.
void ChatTurnWriter::write_shown(const Part& result) {
  if (!fidelity_.says(Feature::kToolResultImage)) return;
  std::string id;
  append_id_up(id, result.call_id, Dialect::kOpenaiChat);
  std::string parts = concat(R"({"type":"text","text":"From the result of call )",
                             std::string_view(id).substr(1, id.size() - 2), R"(:"})");
  const size_t begin = parts.size();
  for (const Part& part : result.content) {
    if (is_media(part) && !is_text_document(part)) append_part(part, parts);
  }
  if (parts.size() == begin) return;
  begin_message(words_, "user");
  append(words_, '[');
  append(words_, parts);
  append(words_, "]}");
}

void ChatTurnWriter::take_assistant(const Turn& turn) {
  assistant_.open = true;
  bool first_text = true;
  for (const Part& part : turn.parts) {
    take_part(part, first_text);
    first_text &= part.kind != Part::Kind::kText;
  }
}

// Texts of one turn are one text that a block of another kind interrupted; those of neighbouring
// turns are paragraphs.
void ChatTurnWriter::take_part(const Part& part, bool first_text) {
  meet_marks(part);
  switch (part.kind) {
    case Part::Kind::kText:
      if (part.text.empty()) return;
      if (first_text) append_paragraph(assistant_.text);
      part.text.append_escaped(assistant_.text);
      return;
    case Part::Kind::kRefusal:
      part.text.append_escaped(assistant_.refusal);
      return;
    case Part::Kind::kReasoning:
      return take_reasoning(part);
    case Part::Kind::kToolCall:
      return take_call(part);
    case Part::Kind::kImage:
      fidelity_.meet(Feature::kForeignPart, "image");
      return;
    case Part::Kind::kDocument:
      fidelity_.meet(Feature::kForeignPart, "document");
      return;
    case Part::Kind::kAudio:
      fidelity_.meet(Feature::kForeignPart, "audio");
      return;
    case Part::Kind::kForeign:
      fidelity_.meet(Feature::kForeignPart, part.type);
      return;
    case Part::Kind::kToolResult:
      return;  // a user's
  }
}

// Thinking of chat's own comes back as it was: OpenRouter's details, or the text. Of another
// maker's the text is left.
void ChatTurnWriter::take_reasoning(const Part& part) {
  const std::optional<Opaque> opaque = unseal(part.signature);
  const bool own =
      opaque && (opaque->kind == OpaqueKind::kDetails || opaque->kind == OpaqueKind::kUnsigned);
  if (own && !fidelity_.says(Feature::kReasoning)) return;
  if (own && opaque->kind == OpaqueKind::kDetails) {
    const std::string_view elements = elements_of(opaque->content);
    if (!elements.empty()) {
      if (!assistant_.details.empty()) assistant_.details += ',';
      assistant_.details += elements;
      return;
    }
  }
  if (part.text.empty()) {
    if (!own && !part.signature.empty()) fidelity_.lose(Feature::kReasoningForeign);
    return;
  }
  if (!own && !fidelity_.says(Feature::kReasoningForeign)) return;
  if (!own) append_paragraph(assistant_.reasoning);
  part.text.append_escaped(assistant_.reasoning);
}

void ChatTurnWriter::take_call(const Part& part) {
  std::string& out = assistant_.calls;
  if (!out.empty()) out += ',';
  append(out, R"({"id":)");
  append_id_up(out, part.call_id, Dialect::kOpenaiChat);
  append(out, R"(,"type":"function","function":{"name":)");
  json::append_quoted(out, flat_name(part.name_space, part.name));
  append(out, R"(,"arguments":)");
  if (part.tool_kind == ToolKind::kCustom) {
    fidelity_.meet(Feature::kCustomTool);
    std::string arguments;
    append_custom_arguments(arguments, part.text);
    json::append_quoted(out, arguments);
  } else if (part.text.empty()) {
    append(out, R"("{}")");
  } else {
    part.text.append_json(out);
  }
  append(out, "}}");
}

// A message of nothing but thinking has an empty content, one of nothing at all is left out.
void ChatTurnWriter::end_assistant() {
  if (!assistant_.open) return;
  const Assistant message = std::exchange(assistant_, Assistant());
  const bool thought = !message.reasoning.empty() || !message.details.empty();
  if (message.text.empty() && message.refusal.empty() && message.calls.empty() && !thought) return;
  begin_message(out_, "assistant");
  const bool no_content = message.text.empty() && !message.calls.empty();
  append(out_, no_content ? "null" : concat('"', message.text, '"'));
  if (!message.refusal.empty()) append(out_, concat(R"(,"refusal":")", message.refusal, '"'));
  if (!message.reasoning.empty())
    append(out_, concat(R"(,"reasoning_content":")", message.reasoning, '"'));
  if (!message.details.empty())
    append(out_, concat(R"(,"reasoning_details":[)", message.details, ']'));
  if (!message.calls.empty()) append(out_, concat(R"(,"tool_calls":[)", message.calls, ']'));
  append(out_, '}');
}

void ChatTurnWriter::end_words() {
  if (words_.empty()) return;
  if (!out_.empty() && out_.back() == '}') out_ += ',';
  out_ += words_;
  words_.clear();
}

}  // namespace hw::translate
