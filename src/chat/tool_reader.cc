#include "chat/tool_reader.h"

#include <string>

#include "base/text.h"
#include "chat/message_reader.h"
#include "json/writer.h"

namespace hw::translate {
namespace {

template <class... Parts>
Status wrong(std::string_view expected, const Parts&... path) {
  return fail(ErrorCode::kBadRequest, concat("Your request: ", path..., " must be ", expected));
}

// {"type": "grammar", "grammar": {"syntax", "definition"}} as {"type", "syntax", "definition"}.
// Plain text is what a custom tool takes anyway.
Raw read_format(const json::Value& format, Request& out) {
  json::Value type, grammar;
  format.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value;
    if (key == "grammar") grammar = value;
  });
  if (format.is_null() || type.text_or("") == "text") return {};
  if (grammar.kind() != json::Kind::kObject) return format.raw();
  std::string flat;
  json::Writer writer(flat);
  writer.begin_object();
  writer.field("type", "grammar");
  grammar.object().each(
      [&](std::string_view key, const json::Value& value) { writer.field_raw(key, value.raw()); });
  writer.end_object();
  return out.keep(std::move(flat));
}

// A member of a function or of a custom tool.
void read_member(std::string_view key, const json::Value& value, Request& out, Tool& tool) {
  if (key == "name") {
    tool.name = Text::of(value);
  } else if (key == "description") {
    tool.description = Text::of(value);
  } else if (key == "parameters") {
    if (value.kind() == json::Kind::kObject) tool.schema = value.raw();
  } else if (key == "strict") {
    tool.strict = value.boolean().value_or(false);
  } else if (key == "format" && tool.kind == Tool::Kind::kCustom) {
    tool.format = read_format(value, out);
  } else if (!value.is_null()) {
    tool.others.push_back(out.keep(std::string(key)));
  }
}

void read_members(json::Object object, Request& out, Tool& tool) {
  object.each(
      [&](std::string_view key, const json::Value& value) { read_member(key, value, out, tool); });
}

// What stands beside `function`: a few clients say its name or its cache mark there once more.
void read_outer_member(std::string_view key, const json::Value& value, Request& out, Tool& tool) {
  if (key == "name" && tool.name.present()) return;
  read_member(key, value, out, tool);
}

Status read_tool(const json::Value& value, size_t at, Request& out) {
  json::Value type, function, custom;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "type") type = member;
    if (key == "function") function = member;
    if (key == "custom") custom = member;
  });
  Tool& tool = out.tools.emplace_back();
  if (type.text_or("function") != "function" && type.text_or("") != "custom") {
    tool.kind = Tool::Kind::kServer;
    tool.type = out.keep(std::string(type.text_or("")));
    tool.raw = value.raw();
    return {};
  }
  if (type.text_or("") == "custom") tool.kind = Tool::Kind::kCustom;
  read_members((tool.kind == Tool::Kind::kCustom ? custom : function).object(), out, tool);
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key != "type" && key != "function" && key != "custom")
      read_outer_member(key, member, out, tool);
  });
  if (!tool.name.empty()) return {};
  return wrong("a string", "tools[", at, "].", type.text_or("function"), ".name");
}

// The tool that a choice names: {"type": "function", "function": {"name"}}, or the name at once.
void read_named(json::Object object, Text& name, ToolKind& kind) {
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "name") name = Text::of(value);
    if (key != "function" && key != "custom") return;
    kind = key == "custom" ? ToolKind::kCustom : ToolKind::kFunction;
    name = Text::of(value.object().find("name"));
  });
}

bool read_mode(std::string_view mode, ToolChoice& choice) {
  if (mode == "auto") {
    choice.kind = ToolChoice::Kind::kAuto;
  } else if (mode == "none") {
    choice.kind = ToolChoice::Kind::kNone;
  } else if (mode == "required" || mode == "any") {
    choice.kind = ToolChoice::Kind::kRequired;
  } else {
    return false;
  }
  return true;
}

Status read_allowed(const json::Value& value, ToolChoice& choice) {
  choice.kind = ToolChoice::Kind::kAuto;
  Status status;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "mode" && !read_mode(member.text_or(""), choice))
      status = wrong("auto or required", "tool_choice.allowed_tools.mode");
    if (key != "tools") return;
    member.array().each([&](const json::Value& tool) {
      Text name;
      ToolKind kind = ToolKind::kFunction;
      read_named(tool.object(), name, kind);
      if (!name.empty() && choice.allowed.size() < kListedMax) choice.allowed.push_back(name);
    });
  });
  return status;
}

}  // namespace

Status read_chat_tools(const json::Value& tools, Request& out) {
  if (tools.kind() != json::Kind::kArray) return wrong("an array of tools", "tools");
  json::Array array = tools.array();
  json::Value value;
  for (size_t at = 0; array.next(value); ++at) {
    if (out.tools.size() == kListedMax) return wrong("of fewer tools", "tools");
    if (value.kind() != json::Kind::kObject) return wrong("an object", "tools[", at, "]");
    if (Status read = read_tool(value, at, out); !read) return read;
  }
  return {};
}

Status read_chat_functions(const json::Value& functions, Request& out) {
  if (functions.kind() != json::Kind::kArray) return wrong("an array of functions", "functions");
  json::Array array = functions.array();
  json::Value value;
  for (size_t at = 0; array.next(value); ++at) {
    if (out.tools.size() == kListedMax) return wrong("of fewer functions", "functions");
    Tool& tool = out.tools.emplace_back();
    read_members(value.object(), out, tool);
    if (tool.name.empty()) return wrong("a string", "functions[", at, "].name");
  }
  return {};
}

Status read_chat_tool_choice(const json::Value& choice, Request& out) {
  ToolChoice& read = out.tool_choice;
  if (choice.kind() == json::Kind::kString) {
    if (read_mode(choice.text_or(""), read)) return {};
    return wrong("auto, none, required or an object", "tool_choice");
  }
  const json::Value allowed = choice.object().find("allowed_tools");
  if (!allowed.is_null()) return read_allowed(allowed, read);
  read_named(choice.object(), read.name, read.tool_kind);
  if (read.name.empty()) return wrong("an object that names a tool", "tool_choice");
  read.kind = ToolChoice::Kind::kNamed;
  return {};
}

}  // namespace hw::translate
