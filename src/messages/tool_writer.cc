#include "messages/tool_writer.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "json/scan.h"
#include "neutral/custom_input.h"

namespace hw::translate {
namespace {

// OpenAI's allowed_tools: what is not in the list is not declared.
bool is_allowed(const ToolChoice& choice, const Tool& tool) {
  if (choice.allowed.empty()) return true;
  const std::string name = tool.name.str();
  return std::any_of(choice.allowed.begin(), choice.allowed.end(),
                     [&](const Text& allowed) { return allowed.is(name); });
}

// A schema must be one of an object, and say so.
void write_schema(Raw schema, json::Writer& writer) {
  constexpr std::string_view kAny = R"({"type":"object","properties":{}})";
  json::Document document;
  if (schema.empty() || !document.open(schema) || document.root().empty()) {
    writer.raw(kAny);
  } else if (document.root().find("type").is_null()) {
    writer.raw(concat(R"({"type":"object",)", schema.substr(schema.find('{') + 1)));
  } else {
    writer.raw(schema);
  }
}

void write_description(const Tool& tool, Fidelity& fidelity, json::Writer& writer) {
  std::string text;
  if (tool.kind == Tool::Kind::kCustom) {
    if (!tool.format.empty()) fidelity.meet(Feature::kCustomToolFormat);
    append_custom_description(text, tool);
    if (!text.empty()) writer.field("description", text);
  } else if (!tool.description.empty()) {
    tool.description.append_json(text);
    writer.field_raw("description", text);
  }
}

void write_tool(const Tool& tool, Fidelity& fidelity, json::Writer& writer) {
  if (!tool.name_space.empty()) fidelity.meet(Feature::kToolNamespace);
  writer.begin_object();
  writer.field("name", flat_name(tool.name_space, tool.name));
  write_description(tool, fidelity, writer);
  if (tool.kind == Tool::Kind::kCustom) {
    fidelity.meet(Feature::kCustomTool);
    writer.field_raw("input_schema", kCustomInputSchema);
  } else {
    writer.key("input_schema");
    write_schema(tool.schema, writer);
  }
  if (tool.strict && fidelity.says(Feature::kToolStrict)) writer.field("strict", true);
  if (!tool.cache_control.empty()) writer.field_raw("cache_control", tool.cache_control);
  writer.end_object();
  for (const std::string_view member : tool.others)
    fidelity.meet(Feature::kToolMember, concat("tools[].", member));
}

std::string_view choice_type(ToolChoice::Kind kind) {
  switch (kind) {
    case ToolChoice::Kind::kAbsent:
    case ToolChoice::Kind::kAuto:
      return "auto";
    case ToolChoice::Kind::kNone:
      return "none";
    case ToolChoice::Kind::kRequired:
      return "any";
    case ToolChoice::Kind::kNamed:
      return "tool";
  }
  return "auto";
}

// One call at a time is a matter of the choice here.
void write_choice(const ToolChoice& choice, Fidelity& fidelity, json::Writer& writer) {
  const bool one_call = choice.parallel == false && choice.kind != ToolChoice::Kind::kNone &&
                        fidelity.says(Feature::kNoParallelCalls);
  if (choice.kind == ToolChoice::Kind::kAbsent && !one_call) return;
  writer.key("tool_choice");
  writer.begin_object();
  writer.field("type", choice_type(choice.kind));
  if (choice.kind == ToolChoice::Kind::kNamed)
    writer.field("name", flat_name(choice.name_space, choice.name));
  if (one_call) writer.field("disable_parallel_tool_use", true);
  writer.end_object();
}

}  // namespace

bool write_messages_tools(const Request& request, Fidelity& fidelity, json::Writer& writer) {
  const ToolChoice& choice = request.tool_choice;
  if (!choice.allowed.empty()) fidelity.meet(Feature::kAllowedTools);
  bool any = false;
  for (const Tool& tool : request.tools) {
    if (tool.kind == Tool::Kind::kServer) {
      fidelity.meet(Feature::kServerTool, tool.type);
    } else if (is_allowed(choice, tool)) {
      if (!any) {
        writer.key("tools");
        writer.begin_array();
      }
      any = true;
      write_tool(tool, fidelity, writer);
    }
  }
  if (!any) return false;
  writer.end_array();
  write_choice(choice, fidelity, writer);
  return choice.kind == ToolChoice::Kind::kRequired || choice.kind == ToolChoice::Kind::kNamed;
}

}  // namespace hw::translate
