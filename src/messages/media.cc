#include "messages/media.h"

#include <algorithm>
#include <string_view>

#include "base/base64.h"
#include "json/writer.h"

namespace hw::translate {
namespace {

// What an image is by the first characters of its base64, where nobody says.
std::string_view sniffed_image(std::string_view base64) {
  if (base64.starts_with("/9j/")) return "image/jpeg";
  if (base64.starts_with("R0lG")) return "image/gif";
  if (base64.starts_with("UklG")) return "image/webp";
  return "image/png";
}

// Base64 as RFC 4648 §4 has it: `+`, `/` and padding.
bool decode_base64(std::string text, std::string& out) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return decode_base64url(text, out);
}

void append_source(std::string& out, std::string_view type, std::string_view member,
                   const Text& data) {
  out += R"("source":{"type":")";
  out += type;
  out += R"(",")";
  out += member;
  out += R"(":)";
  data.append_json(out);
  out += '}';
}

void append_base64_source(std::string& out, const Media& media, std::string_view otherwise) {
  out += R"("source":{"type":"base64","media_type":)";
  if (media.media_type.empty()) {
    json::append_quoted(out, otherwise);
  } else {
    media.media_type.append_json(out);
  }
  out += R"(,"data":)";
  media.data.append_json(out);
  out += '}';
}

// Messages takes PDF by its bytes; text it wants as text.
void append_text_source(std::string& out, const Text& text) {
  out += R"("source":{"type":"text","media_type":"text/plain","data":)";
  text.append_json(out);
  out += '}';
}

void append_document_bytes(std::string& out, const Media& media) {
  std::string decoded;
  if (media.media_type.str().starts_with("text/") && decode_base64(media.data.str(), decoded))
    return append_text_source(out, Text::plain(decoded));
  append_base64_source(out, media, "application/pdf");
}

void append_image(std::string& out, const Part& part) {
  out += R"({"type":"image",)";
  if (part.media.kind == Media::Kind::kUrl) {
    append_source(out, "url", "url", part.media.data);
  } else {
    append_base64_source(out, part.media, sniffed_image(part.media.data.bytes()));
  }
}

void append_document(std::string& out, const Part& part) {
  out += R"({"type":"document",)";
  if (part.media.kind == Media::Kind::kUrl) {
    append_source(out, "url", "url", part.media.data);
  } else if (part.media.kind == Media::Kind::kText) {
    append_text_source(out, part.media.data);
  } else {
    append_document_bytes(out, part.media);
  }
  if (!part.name.empty()) {
    out += R"(,"title":)";
    part.name.append_json(out);
  }
}

Feature document_feature(Media::Kind kind) {
  switch (kind) {
    case Media::Kind::kUrl:
      return Feature::kDocumentUrl;
    case Media::Kind::kBase64:
      return Feature::kDocumentBase64;
    case Media::Kind::kText:
      return Feature::kDocumentText;
    case Media::Kind::kNone:
    case Media::Kind::kFile:
      break;
  }
  return Feature::kDocumentFile;
}

}  // namespace

bool append_messages_media(std::string& out, const Part& part, Fidelity& fidelity) {
  const bool image = part.kind == Part::Kind::kImage;
  const bool file = part.media.kind == Media::Kind::kFile;
  const Feature feature = !image ? document_feature(part.media.kind)
                          : file ? Feature::kImageFile
                                 : Feature::kImageUrl;
  if (!fidelity.says(feature)) return false;
  if (image && !part.detail.empty() && !part.detail.is("auto"))
    fidelity.meet(Feature::kImageDetail);
  if (image) {
    append_image(out, part);
  } else {
    append_document(out, part);
  }
  if (!part.cache_control.empty()) {
    out += R"(,"cache_control":)";
    out += part.cache_control;
  }
  out += '}';
  return true;
}

}  // namespace hw::translate
