#include "chat/media.h"

#include <string_view>

#include "base/text.h"
#include "json/writer.h"
#include "neutral/data_url.h"

namespace hw::translate {
namespace {

std::string_view audio_format(const Text& media_type) {
  std::string_view type = media_type.bytes();
  if (type.starts_with("audio/")) type.remove_prefix(6);
  return type == "mpeg" ? "mp3" : type;
}

bool append_image(std::string& out, const Part& part, Fidelity& fidelity) {
  const bool file = part.media.kind == Media::Kind::kFile;
  if (!fidelity.says(file ? Feature::kImageFile : Feature::kImageUrl)) return false;
  append(out, R"({"type":"image_url","image_url":{"url":)");
  if (part.media.kind == Media::Kind::kBase64) {
    append_data_url(out, part.media, "image/png");
  } else {
    part.media.data.append_json(out);
  }
  if (!part.detail.empty() && fidelity.says(Feature::kImageDetail)) {
    append(out, R"(,"detail":)");
    part.detail.append_json(out);
  }
  append(out, "}}");
  return true;
}

bool append_document(std::string& out, const Part& part, Fidelity& fidelity) {
  switch (part.media.kind) {
    case Media::Kind::kNone:
      return false;
    case Media::Kind::kUrl:
      fidelity.meet(Feature::kDocumentUrl);
      return false;
    case Media::Kind::kFile:
      fidelity.meet(Feature::kDocumentFile);
      return false;
    case Media::Kind::kText:
      if (!fidelity.says(Feature::kDocumentText)) return false;
      append(out, R"({"type":"text","text":")");
      append_text_document(out, part);
      append(out, R"("})");
      return true;
    case Media::Kind::kBase64:
      break;
  }
  if (!fidelity.says(Feature::kDocumentBase64)) return false;
  append(out, R"({"type":"file","file":{"filename":)");
  (part.name.empty() ? Text::plain("document.pdf") : part.name).append_json(out);
  append(out, R"(,"file_data":)");
  append_data_url(out, part.media, "application/pdf");
  append(out, "}}");
  return true;
}

bool append_audio(std::string& out, const Part& part, Fidelity& fidelity) {
  if (part.media.kind != Media::Kind::kBase64 || !fidelity.says(Feature::kAudio)) return false;
  append(out, R"({"type":"input_audio","input_audio":{"data":)");
  part.media.data.append_json(out);
  append(out, R"(,"format":)");
  const std::string_view format = audio_format(part.media.media_type);
  json::append_quoted(out, format.empty() ? "wav" : format);
  append(out, "}}");
  return true;
}

}  // namespace

bool is_text_document(const Part& part) {
  return part.kind == Part::Kind::kDocument && part.media.kind == Media::Kind::kText;
}

void append_text_document(std::string& out, const Part& part) {
  part.name.append_escaped(out);
  if (!part.name.empty()) out += R"(\n\n)";
  part.media.data.append_escaped(out);
}

bool append_chat_media(std::string& out, const Part& part, Fidelity& fidelity) {
  if (part.kind == Part::Kind::kImage) return append_image(out, part, fidelity);
  if (part.kind == Part::Kind::kAudio) return append_audio(out, part, fidelity);
  return part.kind == Part::Kind::kDocument && append_document(out, part, fidelity);
}

}  // namespace hw::translate
