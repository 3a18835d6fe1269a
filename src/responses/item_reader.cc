#include "responses/item_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "responses/content_reader.h"
#include "responses/members.h"

namespace hw::translate {
namespace {

// The members that items have, whatever their type.
struct Item {
  json::Value type, role, content, id, call_id, name, name_space, arguments, input, output, summary,
      encrypted_content, status;
};
constexpr ResponsesMember<Item> kItemMembers[] = {
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

  // `member` is "content" or "output".
  Status read_content(const json::Value& content, std::string_view member,
                      std::vector<Part>& parts) {
    const ResponsesContentPlace place{index_, member};
    return read_responses_content(content, place, out_, parts, parts_left_);
  }

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
  const bool all_known = read_responses_members(value.object(), kItemMembers, item);
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
  if (!all_known) note_unknown_members(value.object(), kItemMembers, "input[]", out_);
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

}  // namespace

Status read_responses_input(const json::Value& input, Request& out) {
  return ItemReader(out).read(input);
}

}  // namespace hw::translate
