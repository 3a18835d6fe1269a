#include "responses/content_reader.h"

#include <string>

#include "base/text.h"
#include "neutral/data_url.h"
#include "responses/members.h"

namespace hw::translate {
namespace {

// The members that parts of a content have.
struct Piece {
  json::Value type, text, annotations, logprobs, image_url, detail, file_id, filename, file_data,
      file_url, input_audio, refusal;
};
constexpr ResponsesMember<Piece> kPieceMembers[] = {
    {"type", &Piece::type},
    {"text", &Piece::text},
    {"annotations", &Piece::annotations},
    {"logprobs", &Piece::logprobs},
    {"image_url", &Piece::image_url},
    {"detail", &Piece::detail},
    {"file_id", &Piece::file_id},
    {"filename", &Piece::filename},
    {"file_data", &Piece::file_data},
    {"file_url", &Piece::file_url},
    {"input_audio", &Piece::input_audio},
    {"refusal", &Piece::refusal},
};

Raw raw_unless_empty(const json::Value& value) {
  return value.array().first().is_null() ? Raw() : value.raw();
}

class ContentReader {
 public:
  ContentReader(const ResponsesContentPlace& place, Request& out, size_t& parts_left)
      : place_(place), out_(out), parts_left_(parts_left) {}

  Status read(const json::Value& content, std::vector<Part>& parts);

 private:
  Status read_piece(const json::Value& value, std::vector<Part>& parts);
  Status read_text(const Piece& piece, Part& part);
  Status read_image(const Piece& piece, Part& part);
  Status read_file(const Piece& piece, Part& part);
  Status read_audio(const Piece& piece, Part& part);

  std::string path() const { return concat("input[].", place_.member, "[]"); }
  Status wrong(std::string_view how) const {
    return fail(ErrorCode::kBadRequest,
                concat("Your request: `input[", place_.item, "].", place_.member, "` ", how));
  }

  const ResponsesContentPlace& place_;
  Request& out_;
  size_t& parts_left_;
};

Status ContentReader::read(const json::Value& content, std::vector<Part>& parts) {
  if (const Text text = Text::of(content); text.present()) {
    parts.emplace_back().text = text;
    return {};
  }
  if (content.kind() != json::Kind::kArray) return wrong("is neither a text nor a list of parts");
  json::Array pieces = content.array();
  json::Value value;
  while (pieces.next(value)) {
    if (value.kind() != json::Kind::kObject) return wrong("has a part that is no object");
    if (parts_left_-- == 0) return wrong("has more parts than are taken");
    if (const Status read = read_piece(value, parts); !read) return read;
  }
  return {};
}

Status ContentReader::read_piece(const json::Value& value, std::vector<Part>& parts) {
  Piece piece;
  const bool all_known = read_responses_members(value.object(), kPieceMembers, piece);
  const std::string_view type = responses_word(out_, piece.type);
  if (type.empty()) return wrong("has a part without a type");
  Part& part = parts.emplace_back();
  Status read;
  if (type == "input_text" || type == "output_text" || type == "text") {
    read = read_text(piece, part);
  } else if (type == "input_image") {
    read = read_image(piece, part);
  } else if (type == "input_file") {
    read = read_file(piece, part);
  } else if (type == "input_audio") {
    read = read_audio(piece, part);
  } else if (type == "refusal" && piece.refusal.kind() == json::Kind::kString) {
    part.kind = Part::Kind::kRefusal;
    part.text = Text::of(piece.refusal);
  } else {
    part.kind = Part::Kind::kForeign;
    part.type = type;
    part.raw = value.raw();
    return {};
  }
  if (read && !all_known) note_unknown_members(value.object(), kPieceMembers, path(), out_);
  return read;
}

Status ContentReader::read_text(const Piece& piece, Part& part) {
  part.text = Text::of(piece.text);
  if (!part.text.present()) return wrong("has a text without text");
  part.annotations = raw_unless_empty(piece.annotations);
  if (!raw_unless_empty(piece.logprobs).empty())
    note_responses_member(out_, path(), "logprobs", piece.logprobs);
  return {};
}

Status ContentReader::read_image(const Piece& piece, Part& part) {
  part.kind = Part::Kind::kImage;
  Text url = Text::of(piece.image_url);
  if (!url.present()) url = Text::of(piece.image_url.object().find("url"));  // as chat nests it
  if (!url.empty()) {
    if (!read_data_url(url, part.media)) {
      part.media.kind = Media::Kind::kUrl;
      part.media.data = url;
    }
  } else if (piece.file_id.has_text()) {
    part.media.kind = Media::Kind::kFile;
    part.media.data = Text::of(piece.file_id);
  } else {
    return wrong("has an image without image_url");
  }
  const Text detail = Text::of(piece.detail);
  if (!detail.is("auto")) part.detail = detail;  // which is the default
  return {};
}

Status ContentReader::read_file(const Piece& piece, Part& part) {
  part.kind = Part::Kind::kDocument;
  part.name = Text::of(piece.filename);
  if (piece.file_data.has_text()) {
    const Text data = Text::of(piece.file_data);
    if (!read_data_url(data, part.media)) {
      part.media.kind = Media::Kind::kBase64;
      part.media.data = data;
      if (part.name.bytes().ends_with(".pdf"))
        part.media.media_type = Text::plain("application/pdf");
    }
  } else if (piece.file_url.has_text()) {
    part.media.kind = Media::Kind::kUrl;
    part.media.data = Text::of(piece.file_url);
  } else if (piece.file_id.has_text()) {
    part.media.kind = Media::Kind::kFile;
    part.media.data = Text::of(piece.file_id);
  } else {
    return wrong("has a file without file_data, file_url or file_id");
  }
  return {};
}

Status ContentReader::read_audio(const Piece& piece, Part& part) {
  part.kind = Part::Kind::kAudio;
  Text format;
  piece.input_audio.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "data") part.media.data = Text::of(value);
    if (key == "format") format = Text::of(value);
  });
  if (part.media.data.empty()) return wrong("has a sound without data");
  part.media.kind = Media::Kind::kBase64;
  part.media.media_type =
      Text::plain(out_.keep(concat("audio/", format.empty() ? "wav" : format.str())));
  return {};
}

}  // namespace

Status read_responses_content(const json::Value& content, const ResponsesContentPlace& place,
                              Request& out, std::vector<Part>& parts, size_t& parts_left) {
  return ContentReader(place, out, parts_left).read(content, parts);
}

}  // namespace hw::translate
