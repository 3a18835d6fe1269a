#include "chat/message_reader.h"

#include <string>

#include "base/text.h"
#include "chat/part_reader.h"
#include "chat/reasoning.h"

namespace hw::translate {
namespace {

constexpr std::string_view kCalls = "messages[].tool_calls[]";
// More paths than this are not told apart: a call's account has fewer marks.
constexpr size_t kNestedFieldsMax = 64;

// The members that messages have, whatever their role.
struct Message {
  json::Value role, content, name, refusal, tool_calls, function_call, tool_call_id,
      reasoning_content, reasoning, reasoning_details, thinking_blocks, annotations;
};

constexpr ChatMember<Message> kMessageMembers[] = {
    {"role", &Message::role},
    {"content", &Message::content},
    {"tool_calls", &Message::tool_calls},
    {"tool_call_id", &Message::tool_call_id},
    {"name", &Message::name},
    {"refusal", &Message::refusal},
    {"reasoning_content", &Message::reasoning_content},
    {"reasoning", &Message::reasoning},
    {"reasoning_details", &Message::reasoning_details},
    {"thinking_blocks", &Message::thinking_blocks},
    {"annotations", &Message::annotations},
    {"function_call", &Message::function_call},
};

class MessageReader {
 public:
  explicit MessageReader(Request& out) : out_(out), parts_(out, parts_left_) {}

  Status read(const json::Value& messages);

 private:
  // A path for an error: "messages[2]" and what follows.
  template <class... Parts>
  Status wrong(std::string_view expected, const Parts&... path) const {
    return fail(ErrorCode::kBadRequest,
                concat("Your request: messages[", index_, "]", path..., " must be ", expected));
  }

  Status read_message(const json::Value& value);
  Status read_assistant(const Message& message);
  Status read_tool_result(const Message& message);
  Status read_function_result(const Message& message);
  Status read_calls(const json::Value& calls, std::vector<Part>& parts);
  Status read_call(const json::Value& value, size_t at, std::vector<Part>& parts);
  Status read_function_call(const json::Value& value, std::vector<Part>& parts);
  bool read_function(json::Object function, Part& call);
  ChatReasoning reasoning_of(const Message& message);
  Status read_content(const json::Value& content, std::vector<Part>& parts) {
    return parts_.read(content, index_, parts);
  }
  Turn& add_turn(Role role);
  bool is_custom_call(const Text& id) const;

  Request& out_;
  size_t index_ = 0;
  size_t parts_left_ = kPartsMax;
  ChatPartReader parts_;
  std::vector<Text> custom_calls_;
  uint32_t legacy_calls_ = 0;    // function_call has no id: calls are counted, and their results
  uint32_t legacy_results_ = 0;  // follow each other in the same order
};

Status MessageReader::read(const json::Value& messages) {
  if (messages.kind() != json::Kind::kArray)
    return fail(ErrorCode::kBadRequest, "Your request: messages must be an array of messages");
  json::Array array = messages.array();
  json::Value value;
  while (array.next(value)) {
    if (index_ == kPartsMax) return wrong("the last of fewer messages");
    if (Status read = read_message(value); !read) return read;
    ++index_;
  }
  return {};
}

Turn& MessageReader::add_turn(Role role) {
  Turn& turn = out_.turns.emplace_back();
  turn.role = role;
  return turn;
}

Status MessageReader::read_message(const json::Value& value) {
  if (value.kind() != json::Kind::kObject) return wrong("an object");
  Message message;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (!keep_chat_member(kMessageMembers, key, member, message))
      note_chat_member(out_, "messages[]", key, member);
  });
  const std::string_view role = message.role.text_or("");
  if (role == "assistant") return read_assistant(message);
  if (role == "tool") return read_tool_result(message);
  if (role == "function") return read_function_result(message);
  Turn* turn = nullptr;
  if (role == "user") turn = &add_turn(Role::kUser);
  if (role == "system") turn = &add_turn(Role::kSystem);
  if (role == "developer") turn = &add_turn(Role::kDeveloper);
  if (turn == nullptr)
    return wrong("system, developer, user, assistant, tool or function", ".role");
  turn->name = Text::of(message.name);
  return read_content(message.content, turn->parts);
}

// Thinking first, then what was said, then the calls: the order in which a model makes them.
Status MessageReader::read_assistant(const Message& message) {
  Turn& turn = add_turn(Role::kAssistant);
  turn.name = Text::of(message.name);
  append_chat_reasoning(reasoning_of(message), out_, turn.parts);
  if (Status read = read_content(message.content, turn.parts); !read) return read;
  if (const Raw annotations = chat_list(message.annotations); !annotations.empty()) {
    if (turn.parts.empty() || turn.parts.back().kind != Part::Kind::kText)
      turn.parts.emplace_back().text = Text::plain("");
    turn.parts.back().annotations = annotations;
  }
  if (message.refusal.has_text()) {
    Part& refusal = turn.parts.emplace_back();
    refusal.kind = Part::Kind::kRefusal;
    refusal.text = Text::of(message.refusal);
  }
  if (Status read = read_calls(message.tool_calls, turn.parts); !read) return read;
  return read_function_call(message.function_call, turn.parts);
}

ChatReasoning MessageReader::reasoning_of(const Message& message) {
  ChatReasoning reasoning;
  reasoning.text = Text::of(message.reasoning_content.has_text() ? message.reasoning_content
                                                                 : message.reasoning);
  reasoning.details = message.reasoning_details;
  reasoning.thinking_blocks = message.thinking_blocks;
  message.tool_calls.array().each([&](const json::Value& call) {
    const json::Value extra = call.object().find("extra_content");
    const json::Value signature = extra.object().find("google").object().find("thought_signature");
    if (signature.has_text()) reasoning.thought_signatures.push_back(Text::of(signature));
  });
  return reasoning;
}

bool MessageReader::is_custom_call(const Text& id) const {
  for (const Text& custom : custom_calls_) {
    if (custom.bytes() == id.bytes()) return true;
  }
  return false;
}

Status MessageReader::read_tool_result(const Message& message) {
  if (!message.tool_call_id.has_text()) return wrong("the id of a call, a string", ".tool_call_id");
  Part& result = add_turn(Role::kUser).parts.emplace_back();
  result.kind = Part::Kind::kToolResult;
  result.call_id = Text::of(message.tool_call_id);
  result.name = Text::of(message.name);
  if (is_custom_call(result.call_id)) result.tool_kind = ToolKind::kCustom;
  return read_content(message.content, result.content);
}

Status MessageReader::read_function_result(const Message& message) {
  Part& result = add_turn(Role::kUser).parts.emplace_back();
  result.kind = Part::Kind::kToolResult;
  result.call_id = Text::plain(out_.keep(concat("function_call_", legacy_results_++)));
  result.name = Text::of(message.name);
  return read_content(message.content, result.content);
}

Status MessageReader::read_calls(const json::Value& calls, std::vector<Part>& parts) {
  if (!calls.is_null() && calls.kind() != json::Kind::kArray)
    return wrong("an array of calls", ".tool_calls");
  json::Array array = calls.array();
  json::Value value;
  for (size_t at = 0; array.next(value); ++at) {
    if (parts_left_-- == 0) return wrong("of fewer calls", ".tool_calls");
    if (Status read = read_call(value, at, parts); !read) return read;
  }
  return {};
}

// The function or custom tool that is called; false without a name.
bool MessageReader::read_function(json::Object function, Part& call) {
  function.each([&](std::string_view key, const json::Value& value) {
    if (key == "name") {
      call.name = Text::of(value);
    } else if (key == "arguments" || key == "input") {
      call.text = Text::of(value);
      // Some servers' clients keep arguments as the object itself.
      if (value.kind() == json::Kind::kObject) call.text = Text::plain(value.raw());
    } else {
      note_chat_member(out_, concat(kCalls, ".function"), key, value);
    }
  });
  return !call.name.empty();
}

Status MessageReader::read_call(const json::Value& value, size_t at, std::vector<Part>& parts) {
  Part call;
  call.kind = Part::Kind::kToolCall;
  bool named = false;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "id") {
      call.call_id = Text::of(member);
    } else if (key == "function") {
      named = read_function(member.object(), call);
    } else if (key == "custom") {
      call.tool_kind = ToolKind::kCustom;
      named = read_function(member.object(), call);
    } else if (key != "type" && key != "index" && key != "extra_content") {
      note_chat_member(out_, kCalls, key, member);
    }
  });
  if (call.call_id.empty()) return wrong("a string", ".tool_calls[", at, "].id");
  if (!named) return wrong("a string", ".tool_calls[", at, "].function.name");
  if (call.tool_kind == ToolKind::kCustom) custom_calls_.push_back(call.call_id);
  parts.push_back(std::move(call));
  return {};
}

Status MessageReader::read_function_call(const json::Value& value, std::vector<Part>& parts) {
  if (value.is_null()) return {};
  Part call;
  call.kind = Part::Kind::kToolCall;
  call.call_id = Text::plain(out_.keep(concat("function_call_", legacy_calls_++)));
  if (!read_function(value.object(), call)) return wrong("a string", ".function_call.name");
  parts.push_back(std::move(call));
  return {};
}

}  // namespace

Status read_chat_messages(const json::Value& messages, Request& out) {
  return MessageReader(out).read(messages);
}

void note_chat_member(Request& out, std::string_view where, std::string_view name,
                      const json::Value& value) {
  if (value.is_null()) return;
  const std::string path = concat(where, ".", name);
  size_t nested = 0;
  for (const OtherField& field : out.others) {
    if (field.name == path) return;
    nested += field.name.find('.') != std::string_view::npos ? 1 : 0;
  }
  if (nested < kNestedFieldsMax) out.others.push_back({out.keep(path), value.raw()});
}

}  // namespace hw::translate
