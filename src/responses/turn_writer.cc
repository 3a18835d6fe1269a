#include "responses/turn_writer.h"

#include <algorithm>

#include "json/writer.h"
#include "neutral/call_id.h"
#include "neutral/data_url.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

constexpr std::string_view kErrorPrefix = "Error: ";

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kDeveloper:
      return "developer";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
  }
  return "";
}

bool is_text(const Part& part) {
  return part.kind == Part::Kind::kText ||
         (part.kind == Part::Kind::kDocument && part.media.kind == Media::Kind::kText);
}

void append_field(std::string& out, std::string_view name, const Text& text) {
  out += ",\"";
  out += name;
  out += "\":";
  text.append_json(out);
}

// A title, a blank line, the text: between the quotes of a JSON string.
void append_titled(std::string& out, const Part& part) {
  if (part.kind == Part::Kind::kText) return part.text.append_escaped(out);
  if (!part.name.empty()) {
    part.name.append_escaped(out);
    out += "\\n\\n";
  }
  part.media.data.append_escaped(out);
}

}  // namespace

void ResponsesTurnWriter::write() {
  for (const Turn& turn : request_.turns) write_turn(turn);
}

void ResponsesTurnWriter::write_turn(const Turn& turn) {
  if (turn.name.present()) fidelity_.meet(Feature::kParticipantName);
  for (const Part& part : turn.parts) write_part(turn.role, part);
  end_message();
}

void ResponsesTurnWriter::write_part(Role role, const Part& part) {
  if (!part.cache_control.empty()) fidelity_.meet(Feature::kCacheControl);
  if (!part.citations.empty() || !part.annotations.empty()) fidelity_.meet(Feature::kCitations);
  switch (part.kind) {
    case Part::Kind::kText:
      return write_text(role, part);
    case Part::Kind::kRefusal:
      return write_refusal(role, part);
    case Part::Kind::kImage:
    case Part::Kind::kDocument:
    case Part::Kind::kAudio:
      return write_media(role, part);
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

void ResponsesTurnWriter::write_text(Role role, const Part& part) {
  if (part.text.empty()) return;
  begin_content(role);
  out_ += role == Role::kAssistant ? R"({"type":"output_text","text":)"
                                   : R"({"type":"input_text","text":)";
  part.text.append_json(out_);
  out_ += '}';
}

// Only an assistant refuses.
void ResponsesTurnWriter::write_refusal(Role role, const Part& part) {
  if (role != Role::kAssistant) return write_text(role, part);
  if (part.text.empty()) return;
  begin_content(role);
  out_ += R"({"type":"refusal","refusal":)";
  part.text.append_json(out_);
  out_ += '}';
}

void ResponsesTurnWriter::write_media(Role role, const Part& part) {
  if (role == Role::kAssistant) {
    fidelity_.meet(Feature::kForeignPart, part.kind == Part::Kind::kImage ? "image" : "document");
    return;
  }
  if (!says_media(part)) return;
  begin_content(role);
  append_media(part);
}

bool ResponsesTurnWriter::says_media(const Part& part) {
  if (part.kind == Part::Kind::kAudio) return fidelity_.says(Feature::kAudio);
  const bool image = part.kind == Part::Kind::kImage;
  if (image && !part.detail.empty()) fidelity_.meet(Feature::kImageDetail);
  if (!part.context.empty()) fidelity_.meet(Feature::kDocumentContext);
  switch (part.media.kind) {
    case Media::Kind::kNone:
      return false;
    case Media::Kind::kUrl:
      return fidelity_.says(image ? Feature::kImageUrl : Feature::kDocumentUrl);
    case Media::Kind::kBase64:
      return fidelity_.says(image ? Feature::kImageUrl : Feature::kDocumentBase64);
    case Media::Kind::kText:
      return fidelity_.says(Feature::kDocumentText);
    case Media::Kind::kFile:
      return fidelity_.says(image ? Feature::kImageFile : Feature::kDocumentFile);
  }
  return false;
}

void ResponsesTurnWriter::append_media(const Part& part) {
  if (part.kind == Part::Kind::kAudio) return append_audio(part);
  if (part.kind == Part::Kind::kImage) return append_image(part);
  if (part.media.kind == Media::Kind::kText) return append_document_text(part);
  append_file(part);
}

void ResponsesTurnWriter::append_image(const Part& part) {
  out_ += R"({"type":"input_image","image_url":)";
  if (part.media.kind == Media::Kind::kBase64) {
    append_data_url(out_, part.media, "image/png");
  } else {
    part.media.data.append_json(out_);
  }
  append_field(out_, "detail", part.detail.empty() ? Text::plain("auto") : part.detail);
  out_ += '}';
}

// A file's name tells OpenAI what it is.
void ResponsesTurnWriter::append_file(const Part& part) {
  out_ += R"({"type":"input_file")";
  if (part.media.kind == Media::Kind::kUrl) {
    append_field(out_, "file_url", part.media.data);
  } else {
    const bool pdf = part.media.media_type.empty() || part.media.media_type.is("application/pdf");
    std::string name = part.name.empty() ? "document" : part.name.str();
    if (pdf && !name.ends_with(".pdf")) name += ".pdf";
    append_field(out_, "filename", Text::plain(name));
    out_ += R"(,"file_data":)";
    append_data_url(out_, part.media, "application/pdf");
  }
  out_ += '}';
}

void ResponsesTurnWriter::append_audio(const Part& part) {
  constexpr std::string_view kAudio = "audio/";
  const std::string type = part.media.media_type.str();
  const std::string_view format = std::string_view(type).substr(type.find('/') + 1);
  out_ += R"({"type":"input_audio","input_audio":{"data":)";
  part.media.data.append_json(out_);
  append_field(out_, "format", Text::plain(type.starts_with(kAudio) ? format : "wav"));
  out_ += "}}";
}

void ResponsesTurnWriter::append_document_text(const Part& part) {
  out_ += R"({"type":"input_text","text":")";
  append_titled(out_, part);
  out_ += "\"}";
}

// A proof of another maker is of no use here, and thinking without one is refused.
void ResponsesTurnWriter::write_reasoning(const Part& part) {
  const auto opaque = unseal(part.signature);
  if (!opaque || opaque->kind != OpaqueKind::kEncrypted) {
    if (!part.text.empty() || !part.signature.empty()) fidelity_.meet(Feature::kReasoningForeign);
    return;
  }
  if (!fidelity_.says(Feature::kReasoning)) return;
  gives_reasoning_ = true;
  begin_item();
  out_ += R"({"type":"reasoning")";
  if (!opaque->item_id.empty()) append_field(out_, "id", Text::plain(opaque->item_id));
  out_ += ",\"summary\":[";
  if (!part.text.empty()) {
    out_ += R"({"type":"summary_text","text":)";
    part.text.append_json(out_);
    out_ += '}';
  }
  out_ += ']';
  append_field(out_, "encrypted_content", Text::plain(opaque->content));
  out_ += '}';
}

void ResponsesTurnWriter::write_call(const Part& part) {
  const bool custom = part.tool_kind == ToolKind::kCustom;
  begin_item();
  out_ +=
      custom ? R"({"type":"custom_tool_call","call_id":)" : R"({"type":"function_call","call_id":)";
  append_id_up(out_, part.call_id, Dialect::kOpenaiResponses);
  out_ += ",\"name\":";
  json::append_quoted(out_, flat_name(part.name_space, part.name));
  if (custom) {
    append_field(out_, "input", part.text);
    custom_calls_.push_back(part.call_id.str());
  } else {
    append_field(out_, "arguments", part.text.empty() ? Text::plain("{}") : part.text);
  }
  out_ += '}';
}

// Chat does not tell with a result what kind of tool gave it.
bool ResponsesTurnWriter::is_custom(const Part& result) const {
  if (result.tool_kind == ToolKind::kCustom) return true;
  return std::any_of(custom_calls_.begin(), custom_calls_.end(),
                     [&](const std::string& id) { return result.call_id.is(id); });
}

void ResponsesTurnWriter::write_result(const Part& part) {
  begin_item();
  out_ += is_custom(part) ? R"({"type":"custom_tool_call_output","call_id":)"
                          : R"({"type":"function_call_output","call_id":)";
  append_id_up(out_, part.call_id, Dialect::kOpenaiResponses);
  out_ += ",\"output\":";
  if (part.is_error) fidelity_.meet(Feature::kToolResultError);
  for (const Part& piece : part.content) {
    if (!piece.cache_control.empty()) fidelity_.meet(Feature::kCacheControl);
    if (!piece.citations.empty()) fidelity_.meet(Feature::kCitations);
    if (piece.kind == Part::Kind::kForeign) fidelity_.meet(Feature::kForeignPart, piece.type);
  }
  const bool texts = std::all_of(part.content.begin(), part.content.end(), [](const Part& piece) {
    return is_text(piece) || piece.kind == Part::Kind::kForeign;
  });
  texts ? write_output_text(part) : write_output_parts(part);
  out_ += '}';
}

// Every server takes a text; several become one, a blank line between them.
void ResponsesTurnWriter::write_output_text(const Part& part) {
  out_ += '"';
  if (part.is_error) out_ += kErrorPrefix;
  bool first = true;
  for (const Part& piece : part.content) {
    if (!is_text(piece)) continue;
    if (piece.kind == Part::Kind::kDocument && !says_media(piece)) continue;
    if (!first) out_ += "\\n\\n";
    first = false;
    append_titled(out_, piece);
  }
  out_ += '"';
}

void ResponsesTurnWriter::write_output_parts(const Part& part) {
  bool first = true;
  out_ += '[';
  if (part.is_error) {
    begin_part(first);
    out_ += R"({"type":"input_text","text":"Error: "})";
  }
  for (const Part& piece : part.content) {
    if (piece.kind == Part::Kind::kForeign) continue;
    if (piece.kind == Part::Kind::kText) {
      if (piece.text.empty()) continue;
      begin_part(first);
      out_ += R"({"type":"input_text","text":)";
      piece.text.append_json(out_);
      out_ += '}';
      continue;
    }
    if (piece.kind == Part::Kind::kImage) fidelity_.meet(Feature::kToolResultImage);
    if (!says_media(piece)) continue;
    begin_part(first);
    append_media(piece);
  }
  out_ += ']';
}

void ResponsesTurnWriter::begin_part(bool& first) {
  if (!first) out_ += ',';
  first = false;
}

void ResponsesTurnWriter::begin_item() {
  end_message();
  if (!first_item_) out_ += ',';
  first_item_ = false;
}

void ResponsesTurnWriter::begin_content(Role role) {
  if (!in_message_) {
    begin_item();
    out_ += R"({"type":"message","role":")";
    out_ += role_name(role);
    out_ += R"(","content":[)";
    in_message_ = true;
    first_part_ = true;
  }
  begin_part(first_part_);
}

void ResponsesTurnWriter::end_message() {
  if (in_message_) out_ += "]}";
  in_message_ = false;
}

}  // namespace hw::translate
