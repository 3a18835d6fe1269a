#include "neutral/reasoning_details.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "neutral/text.h"

namespace hw::translate {
namespace {

bool is_text(std::string_view name) {
  return name == "text" || name == "summary";
}

}  // namespace

void ReasoningDetails::take(json::Array details) {
  details.each([&](const json::Value& detail) {
    bytes_ += detail.raw().size();
    if (bytes_ > kBytesMax) {
      std::vector<Piece>().swap(pieces_);
      return;
    }
    if (detail.kind() == json::Kind::kObject) add(detail.object());
  });
}

void ReasoningDetails::add(json::Object detail) {
  Piece piece;
  detail.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      piece.type = value.raw();
    } else if (key == "index") {
      piece.index = value.raw();
    } else if (is_text(key) && value.kind() == json::Kind::kString) {
      piece.text_name = key;
      piece.text = Text::of(value).bytes();
    } else if (!value.is_null()) {
      piece.members.push_back({std::string(key), std::string(value.raw())});
    }
  });
  Piece* last = pieces_.empty() ? nullptr : &pieces_.back();
  const bool goes_on = last != nullptr && !last->text_name.empty() && last->type == piece.type &&
                       last->index == piece.index &&
                       (piece.text_name.empty() || piece.text_name == last->text_name);
  if (!goes_on) {
    pieces_.push_back(std::move(piece));
    return;
  }
  last->text += piece.text;
  for (Member& member : piece.members) {
    const auto same = std::find_if(last->members.begin(), last->members.end(),
                                   [&](const Member& old) { return old.name == member.name; });
    if (same == last->members.end()) {
      last->members.push_back(std::move(member));
    } else {
      same->raw = std::move(member.raw);
    }
  }
}

std::string ReasoningDetails::take_json() {
  std::string out;
  json::Writer writer(out);
  writer.begin_array();
  for (const Piece& piece : pieces_) {
    writer.begin_object();
    if (!piece.type.empty()) writer.field_raw("type", piece.type);
    if (!piece.text_name.empty()) writer.field_raw(piece.text_name, concat('"', piece.text, '"'));
    for (const Member& member : piece.members) writer.field_raw(member.name, member.raw);
    if (!piece.index.empty()) writer.field_raw("index", piece.index);
    writer.end_object();
  }
  writer.end_array();
  pieces_.clear();
  bytes_ = 0;
  return out;
}

}  // namespace hw::translate
