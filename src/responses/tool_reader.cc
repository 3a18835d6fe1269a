#include "responses/tool_reader.h"

#include <string>

#include "base/text.h"
#include "responses/members.h"

namespace hw::translate {
namespace {

// Members of a tool that are noted by name.
constexpr size_t kToolOthersMax = 16;

Status wrong(std::string_view field, std::string_view how) {
  return fail(ErrorCode::kBadRequest, concat("Your request: `", field, "` ", how));
}

Raw raw_object(const json::Value& value) {
  return value.kind() == json::Kind::kObject ? value.raw() : Raw();
}

// Members of one tool.
class ToolReader {
 public:
  explicit ToolReader(Request& out) : out_(out) {}

  Status read(const json::Value& tools);

 private:
  Status read_tool(const json::Value& value, const Text& name_space);
  Status read_namespace(json::Object object);
  void read_member(std::string_view key, const json::Value& value, Tool& tool);

  Request& out_;
};

Status ToolReader::read(const json::Value& tools) {
  if (tools.kind() != json::Kind::kArray) return wrong("tools", "is not a list");
  json::Array array = tools.array();
  json::Value value;
  while (array.next(value)) {
    if (const Status read = read_tool(value, Text()); !read) return read;
  }
  return {};
}

Status ToolReader::read_tool(const json::Value& value, const Text& name_space) {
  const std::string_view type = responses_word(out_, value.object().find("type"));
  if (type.empty()) return wrong("tools", "has one without a type");
  if (type == "namespace" && !name_space.present()) return read_namespace(value.object());
  if (out_.tools.size() >= kListedMax) return wrong("tools", "has more than are taken");
  Tool tool;
  tool.name_space = name_space;
  if (type != "function" && type != "custom") {
    tool.kind = Tool::Kind::kServer;
    tool.type = type;
    tool.raw = value.raw();
  } else {
    if (type == "custom") tool.kind = Tool::Kind::kCustom;
    value.object().each(
        [&](std::string_view key, const json::Value& member) { read_member(key, member, tool); });
    if (tool.name.empty()) return wrong("tools", "has one without a name");
  }
  out_.tools.push_back(std::move(tool));
  return {};
}

void ToolReader::read_member(std::string_view key, const json::Value& value, Tool& tool) {
  if (key == "name") {
    tool.name = Text::of(value);
  } else if (key == "description") {
    tool.description = Text::of(value);
  } else if (key == "parameters" && tool.kind == Tool::Kind::kFunction) {
    tool.schema = raw_object(value);
  } else if (key == "strict") {
    tool.strict = value.boolean().value_or(false);
  } else if (key == "format" && tool.kind == Tool::Kind::kCustom) {
    const bool free = value.object().find("type").text_or("text") == "text";
    if (!free) tool.format = raw_object(value);
  } else if (key != "type" && !value.is_null() && value.boolean() != false &&
             tool.others.size() < kToolOthersMax) {
    tool.others.push_back(out_.keep(std::string(key)));
  }
}

// The description of a namespace stands in front of its first tool's.
Status ToolReader::read_namespace(json::Object object) {
  Text name, description;
  json::Value tools;
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "name") {
      name = Text::of(value);
    } else if (key == "description") {
      description = Text::of(value);
    } else if (key == "tools") {
      tools = value;
    } else if (key != "type") {
      note_responses_member(out_, "tools[]", key, value);
    }
  });
  if (name.empty()) return wrong("tools", "has a namespace without a name");
  const size_t first = out_.tools.size();
  json::Array array = tools.array();
  json::Value value;
  while (array.next(value)) {
    if (const Status read = read_tool(value, name); !read) return read;
  }
  if (description.empty() || out_.tools.size() == first) return {};
  Tool& tool = out_.tools[first];
  std::string text = "Tools of ";
  name.append_escaped(text);
  text += ": ";
  description.append_escaped(text);
  text += "\\n\\n";
  tool.description.append_escaped(text);
  tool.description = Text::escaped(out_.keep(std::move(text)));
  return {};
}

bool read_choice_word(std::string_view word, ToolChoice& choice) {
  if (word == "auto") {
    choice.kind = ToolChoice::Kind::kAuto;
  } else if (word == "none") {
    choice.kind = ToolChoice::Kind::kNone;
  } else if (word == "required") {
    choice.kind = ToolChoice::Kind::kRequired;
  } else {
    return false;
  }
  return true;
}

Status read_named_choice(const json::Value& value, Request& out) {
  ToolChoice& choice = out.tool_choice;
  std::string_view type, mode;
  Text name, name_space;
  json::Value tools;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "type") type = responses_word(out, member);
    if (key == "mode") mode = responses_word(out, member);
    if (key == "name") name = Text::of(member);
    if (key == "namespace") name_space = Text::of(member);
    if (key == "tools") tools = member;
  });
  if (type == "allowed_tools") {
    if (!read_choice_word(mode, choice)) choice.kind = ToolChoice::Kind::kAuto;
    tools.array().each([&](const json::Value& tool) {
      const Text allowed = Text::of(tool.object().find("name"));
      if (!allowed.empty() && choice.allowed.size() < kListedMax) choice.allowed.push_back(allowed);
    });
    return {};
  }
  if (type == "function" || type == "custom") {
    if (name.empty()) return wrong("tool_choice", "names no tool");
    choice.kind = ToolChoice::Kind::kNamed;
    choice.name = name;
    choice.name_space = name_space;
    if (type == "custom") choice.tool_kind = ToolKind::kCustom;
    return {};
  }
  if (type.empty()) return wrong("tool_choice", "is neither a word nor an object with a type");
  out.others.push_back({"tool_choice", value.raw(), Feature::kServerTool});
  return {};
}

}  // namespace

Status read_responses_tools(const json::Value& tools, Request& out) {
  return ToolReader(out).read(tools);
}

Status read_responses_tool_choice(const json::Value& value, Request& out) {
  if (value.kind() != json::Kind::kString) return read_named_choice(value, out);
  if (read_choice_word(value.text_or(""), out.tool_choice)) return {};
  return wrong("tool_choice", "is not auto, none or required");
}

}  // namespace hw::translate
