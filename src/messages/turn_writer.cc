#include "messages/turn_writer.h"

#include <optional>
#include <string_view>

#include "json/writer.h"
#include "messages/media.h"
#include "messages/message.h"
#include "neutral/call_id.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

// Stands where messages wants words of a user's and there are none: in front of an assistant that
// spoke first, or of nothing but a system text.
constexpr std::string_view kNoWords = R"({"role":"user","content":[{"type":"text","text":"..."}]})";

constexpr std::string_view kMessageEnd = "]}";

// Messages refuses texts of white space.
bool is_blank(const Text& text) {
  const std::string_view bytes = text.bytes();
  if (bytes.empty()) return true;
  if (bytes.find_first_not_of(" \t\r\n\\tnr") != std::string_view::npos) return false;
  return text.str().find_first_not_of(" \t\r\n") == std::string::npos;
}

void append_cache_control(std::string& out, Raw cache_control) {
  if (cache_control.empty()) return;
  out += R"(,"cache_control":)";
  out += cache_control;
}

void append_text_block(std::string& out, const Part& part) {
  out += R"({"type":"text","text":)";
  part.text.append_json(out);
  append_cache_control(out, part.cache_control);
  out += '}';
}

bool is_text(const Part& part) {
  return part.kind == Part::Kind::kText || part.kind == Part::Kind::kRefusal;
}

}  // namespace

MessagesTurnWriter::MessagesTurnWriter(const Request& request, Fidelity& fidelity)
    : fidelity_(fidelity) {
  for (const Turn& turn : request.turns) write_turn(turn);
  flush();
  if (messages_.empty()) messages_ = kNoWords;
  if (last_ == Role::kAssistant && !last_begins_with_thinking_) lacks_thinking_ = true;
}

void MessagesTurnWriter::write_turn(const Turn& turn) {
  if (turn.name.present()) fidelity_.meet(Feature::kParticipantName);
  switch (turn.role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return write_system(turn);
    case Role::kUser:
    case Role::kAssistant:
      conversation_ = true;
      for (const Part& part : turn.parts) write_part(turn.role, part);
      return;
  }
}

// In front of the conversation it is the system text, later a text of the user's.
void MessagesTurnWriter::write_system(const Turn& turn) {
  if (turn.role == Role::kDeveloper) fidelity_.meet(Feature::kDeveloperRole);
  if (conversation_) fidelity_.meet(Feature::kSystemInside);
  for (const Part& part : turn.parts) {
    if (!is_text(part)) {
      fidelity_.meet(Feature::kForeignPart, part.type);
    } else if (is_blank(part.text)) {
      continue;
    } else if (!conversation_) {
      if (!system_.empty()) system_ += ',';
      append_text_block(system_, part);
    } else {
      begin(Role::kUser);
      std::string& out = next_block();
      out += R"({"type":"text","text":"<system>\n)";
      part.text.append_escaped(out);
      out += R"(\n</system>")";
      append_cache_control(out, part.cache_control);
      out += '}';
      solid_ = out.size();
    }
  }
}

void MessagesTurnWriter::write_part(Role role, const Part& part) {
  switch (part.kind) {
    case Part::Kind::kText:
    case Part::Kind::kRefusal:
      return write_text(role, part);
    case Part::Kind::kImage:
    case Part::Kind::kDocument:
      return write_media(role, part);
    case Part::Kind::kAudio:
      fidelity_.meet(Feature::kAudio);
      return;
    case Part::Kind::kReasoning:
      return write_reasoning(part);
    case Part::Kind::kToolCall:
      return write_call(part);
    case Part::Kind::kToolResult:
      return write_result(part);
    case Part::Kind::kForeign:
      fidelity_.meet(Feature::kForeignPart, part.type);
      return;
  }
}

void MessagesTurnWriter::write_text(Role role, const Part& part) {
  if (!part.citations.empty() || !part.annotations.empty()) fidelity_.meet(Feature::kCitations);
  if (is_blank(part.text)) return;
  begin(role);
  append_text_block(next_block(), part);
  solid_ = blocks_.size();
}

// Only what this maker signed goes back to it.
void MessagesTurnWriter::write_reasoning(const Part& part) {
  const std::optional<Opaque> opaque = unseal(part.signature);
  const bool redacted = opaque && opaque->kind == OpaqueKind::kRedacted;
  if (!redacted && !(opaque && opaque->kind == OpaqueKind::kSignature)) {
    if (!part.text.empty() || !part.signature.empty()) fidelity_.meet(Feature::kReasoningForeign);
    return;
  }
  begin(Role::kAssistant);
  if (blocks_.empty()) begins_with_thinking_ = true;
  std::string& out = next_block();
  if (redacted) {
    out += R"({"type":"redacted_thinking","data":)";
  } else {
    out += R"({"type":"thinking","thinking":)";
    part.text.append_json(out);
    out += R"(,"signature":)";
  }
  json::append_quoted(out, opaque->content);
  out += '}';
}

void MessagesTurnWriter::write_call(const Part& part) {
  begin(Role::kAssistant);
  has_call_ = true;
  std::string& out = next_block();
  out += R"({"type":"tool_use","id":)";
  append_id_up(out, part.call_id, Dialect::kAnthropicMessages);
  out += R"(,"name":)";
  json::append_quoted(out, flat_name(part.name_space, part.name));
  out += R"(,"input":)";
  append_tool_input(out, part.tool_kind, part.text);
  append_cache_control(out, part.cache_control);
  out += '}';
  solid_ = out.size();
}

void MessagesTurnWriter::write_result(const Part& part) {
  begin(Role::kUser);
  if (!results_.empty()) results_ += ',';
  results_ += R"({"type":"tool_result","tool_use_id":)";
  append_id_up(results_, part.call_id, Dialect::kAnthropicMessages);
  write_result_content(results_, part);
  if (part.is_error) results_ += R"(,"is_error":true)";
  append_cache_control(results_, part.cache_control);
  results_ += '}';
}

// One text is a string, several parts are blocks; nothing is left out where there is nothing.
void MessagesTurnWriter::write_result_content(std::string& out, const Part& part) {
  if (part.content.size() == 1 && is_text(part.content[0])) {
    out += R"(,"content":)";
    return part.content[0].text.append_json(out);
  }
  std::string blocks;
  for (const Part& piece : part.content) {
    std::string block;
    if (is_text(piece)) {
      if (!is_blank(piece.text)) append_text_block(block, piece);
    } else if (piece.kind == Part::Kind::kImage || piece.kind == Part::Kind::kDocument) {
      append_messages_media(block, piece, fidelity_);
    } else if (piece.kind == Part::Kind::kAudio) {
      fidelity_.meet(Feature::kAudio);
    } else {
      fidelity_.meet(Feature::kForeignPart, piece.type);
    }
    if (!block.empty() && !blocks.empty()) blocks += ',';
    blocks += block;
  }
  if (blocks.empty()) return;
  out += R"(,"content":[)";
  out += blocks;
  out += ']';
}

// An assistant shows nothing in messages.
void MessagesTurnWriter::write_media(Role role, const Part& part) {
  if (role == Role::kAssistant) {
    fidelity_.meet(Feature::kForeignPart, part.kind == Part::Kind::kImage ? "image" : "document");
    return;
  }
  std::string block;
  if (!append_messages_media(block, part, fidelity_)) return;
  begin(role);
  next_block() += block;
  solid_ = blocks_.size();
}

// Neighbours of one role are one message.
void MessagesTurnWriter::begin(Role role) {
  if (role_ == role) return;
  flush();
  role_ = role;
}

std::string& MessagesTurnWriter::next_block() {
  if (!blocks_.empty()) blocks_ += ',';
  return blocks_;
}

// Thinking that nothing follows is refused; what came of it is not there, and it goes nowhere.
void MessagesTurnWriter::flush() {
  if (blocks_.size() > solid_) {
    fidelity_.lose(Feature::kReasoning);
    blocks_.resize(solid_);
  }
  if (!blocks_.empty() || !results_.empty()) write_message();
  results_.clear();
  blocks_.clear();
  solid_ = 0;
  has_call_ = begins_with_thinking_ = false;
}

void MessagesTurnWriter::write_message() {
  const bool user = role_ == Role::kUser;
  if (messages_.empty() && !user) messages_ += kNoWords;
  if (last_ == role_) {
    messages_.resize(messages_.size() - kMessageEnd.size());
    messages_ += ',';
  } else {
    if (!messages_.empty()) messages_ += ',';
    messages_ += user ? R"({"role":"user","content":[)" : R"({"role":"assistant","content":[)";
  }
  messages_ += results_;
  if (!results_.empty() && !blocks_.empty()) messages_ += ',';
  messages_ += blocks_;
  messages_ += kMessageEnd;
  if (user && results_.empty()) lacks_thinking_ = false;
  if (has_call_ && !begins_with_thinking_) lacks_thinking_ = true;
  last_ = role_;
  last_begins_with_thinking_ = begins_with_thinking_;
}

}  // namespace hw::translate
