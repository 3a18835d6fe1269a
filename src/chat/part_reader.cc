#include "chat/part_reader.h"

#include <string>

#include "base/text.h"
#include "chat/message_reader.h"
#include "neutral/data_url.h"

namespace hw::translate {

// The members that parts of a content have, whatever their type.
struct ChatPart {
  json::Value type, text, refusal, image_url, input_audio, file, thinking, annotations;
};

namespace {

constexpr std::string_view kParts = "messages[].content[]";

constexpr ChatMember<ChatPart> kPartMembers[] = {
    {"type", &ChatPart::type},           {"text", &ChatPart::text},
    {"image_url", &ChatPart::image_url}, {"input_audio", &ChatPart::input_audio},
    {"file", &ChatPart::file},           {"refusal", &ChatPart::refusal},
    {"thinking", &ChatPart::thinking},   {"annotations", &ChatPart::annotations},
};

}  // namespace

Raw chat_list(const json::Value& value) {
  return value.array().count() == 0 ? Raw() : value.raw();
}

template <class... Parts>
Status ChatPartReader::wrong(std::string_view expected, const Parts&... path) const {
  return fail(ErrorCode::kBadRequest,
              concat("Your request: messages[", message_, "]", path..., " must be ", expected));
}

Status ChatPartReader::read(const json::Value& content, size_t message, std::vector<Part>& parts) {
  message_ = message;
  switch (content.kind()) {
    case json::Kind::kNull:
      return {};
    case json::Kind::kString:
      if (content.has_text()) parts.emplace_back().text = Text::of(content);
      return {};
    case json::Kind::kArray:
      break;
    case json::Kind::kBool:
    case json::Kind::kNumber:
    case json::Kind::kObject:
      return wrong("a string or an array of parts", ".content");
  }
  json::Array array = content.array();
  json::Value value;
  for (size_t at = 0; array.next(value); ++at) {
    if (parts_left_-- == 0) return wrong("of fewer parts", ".content");
    if (Status read = read_part(value, at, parts); !read) return read;
  }
  return {};
}

Status ChatPartReader::read_part(const json::Value& value, size_t at, std::vector<Part>& parts) {
  if (value.kind() == json::Kind::kString) {
    parts.emplace_back().text = Text::of(value);
    return {};
  }
  if (value.kind() != json::Kind::kObject) return wrong("an object", ".content[", at, "]");
  ChatPart part;
  bool all_known = true;
  value.object().each([&](std::string_view key, const json::Value& member) {
    all_known &= keep_chat_member(kPartMembers, key, member, part);
  });
  const std::string_view type = part.type.text_or("");
  if (type.empty()) return wrong("the name of a part's type", ".content[", at, "].type");
  const size_t before = parts.size();
  if (Status read = read_known(part, type, at, parts); !read) return read;
  if (parts.size() == before) {
    Part& foreign = parts.emplace_back();
    foreign.kind = Part::Kind::kForeign;
    foreign.raw = value.raw();
    foreign.type = out_.keep(std::string(type));
  } else if (!all_known) {
    note_others(value.object());
  }
  return {};
}

void ChatPartReader::note_others(json::Object part) {
  ChatPart known;
  part.each([&](std::string_view key, const json::Value& member) {
    if (!keep_chat_member(kPartMembers, key, member, known))
      note_chat_member(out_, kParts, key, member);
  });
}

// Adds nothing where the type is none that is known.
Status ChatPartReader::read_known(const ChatPart& part, std::string_view type, size_t at,
                                  std::vector<Part>& parts) {
  if (type == "text" || type == "input_text" || type == "output_text") {
    if (part.text.kind() != json::Kind::kString)
      return wrong("a string", ".content[", at, "].text");
    Part& text = parts.emplace_back();
    text.text = Text::of(part.text);
    text.annotations = chat_list(part.annotations);
    return {};
  }
  if (type == "image_url") return read_image(part, at, parts);
  if (type == "input_audio") return read_audio(part, at, parts);
  if (type == "file") return read_file(part, at, parts);
  if (type == "thinking") read_thinking(part, parts);
  if (type == "refusal") {
    Part& refusal = parts.emplace_back();
    refusal.kind = Part::Kind::kRefusal;
    refusal.text = Text::of(part.refusal);
  }
  return {};
}

Status ChatPartReader::read_image(const ChatPart& part, size_t at, std::vector<Part>& parts) {
  json::Value url = part.image_url, detail;
  part.image_url.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "url") url = value;
    if (key == "detail") detail = value;
  });
  if (!url.has_text()) return wrong("a URL, a string", ".content[", at, "].image_url.url");
  Part& image = parts.emplace_back();
  image.kind = Part::Kind::kImage;
  image.detail = Text::of(detail);
  const Text text = Text::of(url);
  if (read_data_url(text, image.media)) return {};
  if (text.bytes().starts_with("data:"))
    return wrong("a data: URL in base64", ".content[", at, "].image_url.url");
  image.media.kind = Media::Kind::kUrl;
  image.media.data = text;
  return {};
}

Status ChatPartReader::read_audio(const ChatPart& part, size_t at, std::vector<Part>& parts) {
  json::Value data, format;
  part.input_audio.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "data") data = value;
    if (key == "format") format = value;
  });
  if (!data.has_text()) return wrong("base64, a string", ".content[", at, "].input_audio.data");
  Part& audio = parts.emplace_back();
  audio.kind = Part::Kind::kAudio;
  audio.media.kind = Media::Kind::kBase64;
  audio.media.data = Text::of(data);
  if (format.has_text())
    audio.media.media_type = Text::plain(out_.keep(concat("audio/", format.text_or(""))));
  return {};
}

Status ChatPartReader::read_file(const ChatPart& part, size_t at, std::vector<Part>& parts) {
  json::Value data, id;
  Text name;
  part.file.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "file_data") data = value;
    if (key == "file_id") id = value;
    if (key == "filename") name = Text::of(value);
  });
  if (!data.has_text() && !id.has_text())
    return wrong("an object with file_data or file_id", ".content[", at, "].file");
  Part& document = parts.emplace_back();
  document.kind = Part::Kind::kDocument;
  document.name = name;
  if (!data.has_text()) {
    document.media.kind = Media::Kind::kFile;
    document.media.data = Text::of(id);
  } else if (!read_data_url(Text::of(data), document.media)) {
    document.media.kind = Media::Kind::kBase64;
    document.media.media_type = Text::plain("application/pdf");
    document.media.data = Text::of(data);
  }
  return {};
}

// Mistral's: {"type": "thinking", "thinking": [{"type": "text", "text": "..."}]}.
void ChatPartReader::read_thinking(const ChatPart& part, std::vector<Part>& parts) {
  std::string all = Text::of(part.thinking).str();
  part.thinking.array().each(
      [&](const json::Value& piece) { Text::of(piece.object().find("text")).append_plain(all); });
  Part& thinking = parts.emplace_back();
  thinking.kind = Part::Kind::kReasoning;
  thinking.text = Text::plain(out_.keep(std::move(all)));
}

}  // namespace hw::translate
