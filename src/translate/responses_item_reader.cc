#include "translate/responses_item_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "translate/data_url.h"

namespace hw::translate {
namespace {

// More paths than this are not told apart: a call's account has fewer marks.
constexpr size_t kNestedFieldsMax = 64;

// A member's name and where a struct of values keeps it.
template <class Members>
struct Place {
  std::string_view name;
  json::Value Members::* value;
};

// The members that items have, whatever their type.
struct Item {
  json::Value type, role, content, id, call_id, name, name_space, arguments, input, output, summary,
      encrypted_content, status;
};
constexpr Place<Item> kItemMembers[] = {
    {"type", &Item::type},
    {"role", &Item::role},
    {"content", &Item::content},
    {"id", &Item::id},
    {"call_id", &Item::call_id},
    {"name", &Item::name},
    {"namespace", &Item::name_space},
    {"arguments", &Item::arguments},
    {"input", &Item::input},
    {"output", &Item::output},
    {"summary", &Item::summary},
    {"encrypted_content", &Item::encrypted_content},
    {"status", &Item::status},  // says nothing that the item does not
};

// The members that parts of a content have.
struct Piece {
  json::Value type, text, annotations, logprobs, image_url, detail, file_id, filename, file_data,
      file_url, input_audio, refusal;
};
constexpr Place<Piece> kPieceMembers[] = {
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

// Fills `members`; true where every member has its place there.
template <class Members, size_t kCount>
bool read_members(json::Object object, const Place<Members> (&places)[kCount], Members& members) {
  bool all_known = true;
  object.each([&](std::string_view key, const json::Value& value) {
    const auto place = std::find_if(std::begin(places), std::end(places),
                                    [key](const auto& one) { return one.name == key; });
    if (place == std::end(places)) {
      all_known = false;
    } else {
      members.*place->value = value;
    }
  });
  return all_known;
}

template <class Members, size_t kCount>
void note_unknown(json::Object object, const Place<Members> (&places)[kCount],
                  std::string_view where, Request& out) {
  object.each([&](std::string_view key, const json::Value& value) {
    const bool known = std::any_of(std::begin(places), std::end(places),
                                   [key](const auto& one) { return one.name == key; });
    if (!known) note_responses_member(out, where, key, value);
  });
}

Raw raw_unless_empty(const json::Value& value) {
  return value.array().first().is_null() ? Raw() : value.raw();
}

// What read_typed() reads.
bool is_known_type(std::string_view type) {
  return type == "message" || type == "reasoning" || type == "function_call" ||
         type == "function_call_output" || type == "custom_tool_call" ||
         type == "custom_tool_call_output";
}

bool is_result_type(std::string_view type) {
  return type.ends_with("_output") || type.ends_with("_response");
}

class ItemReader {
 public:
  explicit ItemReader(Request& out) : out_(out) {}

  Status read(const json::Value& input);

 private:
  Status read_item(const json::Value& value);
  Status read_typed(std::string_view type, const Item& item);
  Status read_message(const Item& item);
  Status read_call(const Item& item, ToolKind kind);
  Status read_result(const Item& item, ToolKind kind);
  Status read_reasoning(const Item& item);
  void refer_to_stored(const Item& item);
  void read_foreign(std::string_view type, const json::Value& value);

  Status read_content(const json::Value& content, std::string_view member,
                      std::vector<Part>& parts);
  Status read_piece(const json::Value& value, std::string_view member, std::vector<Part>& parts);
  Status read_text(const Piece& piece, std::string_view member, Part& part);
  Status read_image(const Piece& piece, std::string_view member, Part& part);
  Status read_file(const Piece& piece, std::string_view member, Part& part);
  Status read_audio(const Piece& piece, std::string_view member, Part& part);

  Text joined_texts(json::Array pieces);
  Turn& add_turn(Role role) {
    Turn& turn = out_.turns.emplace_back();
    turn.role = role;
    return turn;
  }
  Part& add_part(Role role, Part::Kind kind) {
    Part& part = add_turn(role).parts.emplace_back();
    part.kind = kind;
    return part;
  }
  // `member` of the item that is read is not as it should be.
  Status wrong(std::string_view member, std::string_view how) const {
    return fail(ErrorCode::kBadRequest, concat("Your request: `input[", index_, "]",
                                               member.empty() ? "" : ".", member, "` ", how));
  }

  Request& out_;
  size_t index_ = 0;  // of the item
  size_t parts_left_ = kPartsMax;
};

Status ItemReader::read(const json::Value& input) {
  if (const Text text = Text::of(input); text.present()) {
    add_part(Role::kUser, Part::Kind::kText).text = text;
    return {};
  }
  if (input.kind() != json::Kind::kArray) {
    return fail(ErrorCode::kBadRequest,
                "Your request: `input` is neither a text nor a list of items");
  }
  json::Array items = input.array();
  json::Value value;
  while (items.next(value)) {
    if (index_ >= kPartsMax) {
      return fail(ErrorCode::kBadRequest,
                  concat("Your request: `input` has more than ", kPartsMax, " items"));
    }
    if (value.kind() != json::Kind::kObject) return wrong("", "is not an object");
    if (const Status read = read_item(value); !read) return read;
    ++index_;
  }
  return {};
}

Status ItemReader::read_item(const json::Value& value) {
  Item item;
  const bool all_known = read_members(value.object(), kItemMembers, item);
  std::string_view type = responses_word(out_, item.type);
  if (type.empty() && item.role.has_text()) type = "message";
  if (type.empty() && item.id.has_text()) type = "item_reference";
  if (type.empty()) return wrong("type", "is missing");
  if (type == "item_reference") {
    refer_to_stored(item);
    return {};
  }
  if (!is_known_type(type)) {
    read_foreign(type, value);
    return {};
  }
  if (!all_known) note_unknown(value.object(), kItemMembers, "input[]", out_);
  return read_typed(type, item);
}

Status ItemReader::read_typed(std::string_view type, const Item& item) {
  if (type == "message") return read_message(item);
  if (type == "function_call") return read_call(item, ToolKind::kFunction);
  if (type == "custom_tool_call") return read_call(item, ToolKind::kCustom);
  if (type == "function_call_output") return read_result(item, ToolKind::kFunction);
  if (type == "custom_tool_call_output") return read_result(item, ToolKind::kCustom);
  return read_reasoning(item);
}

// What an item refers to is kept by nobody here; the writers refuse it.
void ItemReader::refer_to_stored(const Item& item) {
  constexpr std::string_view kName = "input[].item_reference";
  for (const OtherField& field : out_.others) {
    if (field.name == kName) return;
  }
  out_.others.push_back({kName, item.id.raw(), Feature::kStoredState});
}

Status ItemReader::read_message(const Item& item) {
  struct Named {
    std::string_view name;
    Role role;
  };
  static constexpr Named kRoles[] = {{"user", Role::kUser},
                                     {"assistant", Role::kAssistant},
                                     {"system", Role::kSystem},
                                     {"developer", Role::kDeveloper}};
  const std::string_view name = item.role.text_or("");
  const auto role = std::find_if(std::begin(kRoles), std::end(kRoles),
                                 [name](const Named& one) { return one.name == name; });
  if (role == std::end(kRoles)) return wrong("role", "is not user, assistant, system or developer");
  Turn& turn = add_turn(role->role);
  if (turn.role == Role::kAssistant && item.content.is_null()) return {};
  return read_content(item.content, "content", turn.parts);
}

Status ItemReader::read_call(const Item& item, ToolKind kind) {
  if (!item.name.has_text()) return wrong("name", "is missing");
  if (!item.call_id.has_text()) return wrong("call_id", "is missing");
  const bool function = kind == ToolKind::kFunction;
  const json::Value& text = function ? item.arguments : item.input;
  if (!text.is_null() && text.kind() != json::Kind::kString)
    return wrong(function ? "arguments" : "input", "is not a text");
  Part& part = add_part(Role::kAssistant, Part::Kind::kToolCall);
  part.tool_kind = kind;
  part.name = Text::of(item.name);
  part.name_space = Text::of(item.name_space);
  part.call_id = Text::of(item.call_id);
  part.item_id = Text::of(item.id);
  part.text = Text::of(text);
  return {};
}

Status ItemReader::read_result(const Item& item, ToolKind kind) {
  if (!item.call_id.has_text()) return wrong("call_id", "is missing");
  Part& part = add_part(Role::kUser, Part::Kind::kToolResult);
  part.tool_kind = kind;
  part.call_id = Text::of(item.call_id);
  part.item_id = Text::of(item.id);
  return read_content(item.output, "output", part.content);
}

// A model's own words (`content`) come from servers that hide nothing; then there is no summary.
Status ItemReader::read_reasoning(const Item& item) {
  Part& part = add_part(Role::kAssistant, Part::Kind::kReasoning);
  part.item_id = Text::of(item.id);
  part.signature = Text::of(item.encrypted_content);
  if (part.signature.empty()) part.signature = Text();
  part.text = joined_texts(item.summary.array());
  const Text content = joined_texts(item.content.array());
  if (!part.text.present()) {
    part.text = content;
  } else if (content.present()) {
    note_responses_member(out_, "input[]", "content", item.content);
  }
  return {};
}

void ItemReader::read_foreign(std::string_view type, const json::Value& value) {
  const Role role = is_result_type(type) ? Role::kUser : Role::kAssistant;
  Part& part = add_part(role, Part::Kind::kForeign);
  part.type = type;
  part.raw = value.raw();
}

// The texts of summary or content parts; one is passed on as it is.
Text ItemReader::joined_texts(json::Array pieces) {
  Text first;
  std::string joined;
  pieces.each([&](const json::Value& value) {
    const Text text = Text::of(value.object().find("text"));
    if (!text.present()) return;
    if (!first.present()) {
      first = text;
      return;
    }
    if (joined.empty()) first.append_escaped(joined);
    joined += "\\n\\n";
    text.append_escaped(joined);
  });
  return joined.empty() ? first : Text::escaped(out_.keep(std::move(joined)));
}

// `member` is "content" or "output".
Status ItemReader::read_content(const json::Value& content, std::string_view member,
                                std::vector<Part>& parts) {
  if (const Text text = Text::of(content); text.present()) {
    parts.emplace_back().text = text;
    return {};
  }
  if (content.kind() != json::Kind::kArray)
    return wrong(member, "is neither a text nor a list of parts");
  json::Array pieces = content.array();
  json::Value value;
  while (pieces.next(value)) {
    if (value.kind() != json::Kind::kObject) return wrong(member, "has a part that is no object");
    if (parts_left_-- == 0) return wrong(member, "has more parts than are taken");
    if (const Status read = read_piece(value, member, parts); !read) return read;
  }
  return {};
}

Status ItemReader::read_piece(const json::Value& value, std::string_view member,
                              std::vector<Part>& parts) {
  Piece piece;
  const bool all_known = read_members(value.object(), kPieceMembers, piece);
  const std::string_view type = responses_word(out_, piece.type);
  if (type.empty()) return wrong(member, "has a part without a type");
  Part& part = parts.emplace_back();
  Status read;
  if (type == "input_text" || type == "output_text" || type == "text") {
    read = read_text(piece, member, part);
  } else if (type == "input_image") {
    read = read_image(piece, member, part);
  } else if (type == "input_file") {
    read = read_file(piece, member, part);
  } else if (type == "input_audio") {
    read = read_audio(piece, member, part);
  } else if (type == "refusal" && piece.refusal.kind() == json::Kind::kString) {
    part.kind = Part::Kind::kRefusal;
    part.text = Text::of(piece.refusal);
  } else {
    part.kind = Part::Kind::kForeign;
    part.type = type;
    part.raw = value.raw();
    return {};
  }
  if (read && !all_known)
    note_unknown(value.object(), kPieceMembers, concat("input[].", member, "[]"), out_);
  return read;
}

Status ItemReader::read_text(const Piece& piece, std::string_view member, Part& part) {
  part.text = Text::of(piece.text);
  if (!part.text.present()) return wrong(member, "has a text without text");
  part.annotations = raw_unless_empty(piece.annotations);
  if (!raw_unless_empty(piece.logprobs).empty())
    note_responses_member(out_, concat("input[].", member, "[]"), "logprobs", piece.logprobs);
  return {};
}

Status ItemReader::read_image(const Piece& piece, std::string_view member, Part& part) {
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
    return wrong(member, "has an image without image_url");
  }
  const Text detail = Text::of(piece.detail);
  if (!detail.is("auto")) part.detail = detail;  // which is the default
  return {};
}

Status ItemReader::read_file(const Piece& piece, std::string_view member, Part& part) {
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
    return wrong(member, "has a file without file_data, file_url or file_id");
  }
  return {};
}

Status ItemReader::read_audio(const Piece& piece, std::string_view member, Part& part) {
  part.kind = Part::Kind::kAudio;
  Text format;
  piece.input_audio.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "data") part.media.data = Text::of(value);
    if (key == "format") format = Text::of(value);
  });
  if (part.media.data.empty()) return wrong(member, "has a sound without data");
  part.media.kind = Media::Kind::kBase64;
  part.media.media_type =
      Text::plain(out_.keep(concat("audio/", format.empty() ? "wav" : format.str())));
  return {};
}

}  // namespace

Status read_responses_input(const json::Value& input, Request& out) {
  return ItemReader(out).read(input);
}

void note_responses_member(Request& out, std::string_view where, std::string_view name,
                           const json::Value& value) {
  if (value.is_null()) return;
  std::string path = concat(where, ".", name);
  size_t nested = 0;
  for (const OtherField& field : out.others) {
    if (field.name == path) return;
    nested += field.name.find('.') != std::string_view::npos;
  }
  if (nested < kNestedFieldsMax) out.others.push_back({out.keep(std::move(path)), value.raw()});
}

std::string_view responses_word(Request& out, const json::Value& value) {
  const std::string_view word = value.text_or("");
  const bool escaped = word.size() + 2 != value.raw().size();
  return escaped && !word.empty() ? out.keep(std::string(word)) : word;
}

}  // namespace hw::translate
