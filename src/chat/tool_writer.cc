#include "chat/tool_writer.h"

#include <string>
#include <string_view>

#include "base/text.h"
#include "neutral/custom_input.h"

namespace hw::translate {
namespace {

constexpr std::string_view kAnyArguments = R"({"type":"object","properties":{}})";

// Marks of a tool for which chat has no place.
void meet_marks(const Tool& tool, Fidelity& fidelity) {
  if (!tool.name_space.empty()) fidelity.meet(Feature::kToolNamespace);
  if (!tool.cache_control.empty()) fidelity.meet(Feature::kCacheControl);
  if (tool.deferred) fidelity.meet(Feature::kDeferredTool);
  for (const std::string_view member : tool.others)
    fidelity.meet(Feature::kToolMember, concat("tools[].", member));
}

void write_function(const Tool& tool, Fidelity& fidelity, json::Writer& writer) {
  std::string description;
  const bool custom = tool.kind == Tool::Kind::kCustom;
  if (custom) {
    fidelity.meet(Feature::kCustomTool);
    if (!tool.format.empty()) fidelity.meet(Feature::kCustomToolFormat);
    append_custom_description(description, tool);
    const std::string plain = std::exchange(description, std::string());
    if (!plain.empty()) json::append_quoted(description, plain);
  } else if (!tool.description.empty()) {
    tool.description.append_json(description);
  }
  writer.begin_object();
  writer.field("type", "function");
  writer.key("function");
  writer.begin_object();
  writer.field("name", flat_name(tool.name_space, tool.name));
  if (!description.empty()) writer.field_raw("description", description);
  const Raw schema = tool.schema.empty() ? kAnyArguments : tool.schema;
  writer.field_raw("parameters", custom ? kCustomInputSchema : schema);
  if (tool.strict && fidelity.says(Feature::kToolStrict)) writer.field("strict", true);
  writer.end_object();
  writer.end_object();
}

void write_name(std::string_view name, json::Writer& writer) {
  writer.begin_object();
  writer.field("type", "function");
  writer.key("function");
  writer.begin_object();
  writer.field("name", name);
  writer.end_object();
  writer.end_object();
}

std::string_view mode_name(ToolChoice::Kind kind) {
  switch (kind) {
    case ToolChoice::Kind::kNone:
      return "none";
    case ToolChoice::Kind::kRequired:
      return "required";
    case ToolChoice::Kind::kAbsent:
    case ToolChoice::Kind::kAuto:
    case ToolChoice::Kind::kNamed:
      return "auto";
  }
  return "auto";
}

void write_allowed(const ToolChoice& choice, json::Writer& writer) {
  writer.begin_object();
  writer.field("type", "allowed_tools");
  writer.key("allowed_tools");
  writer.begin_object();
  writer.field("mode", mode_name(choice.kind));
  writer.key("tools");
  writer.begin_array();
  for (const Text& name : choice.allowed) write_name(flat_name(Text(), name), writer);
  writer.end_array();
  writer.end_object();
  writer.end_object();
}

void write_choice(const ToolChoice& choice, Fidelity& fidelity, json::Writer& writer) {
  if (!choice.allowed.empty() && fidelity.says(Feature::kAllowedTools)) {
    writer.key("tool_choice");
    write_allowed(choice, writer);
  } else if (choice.kind == ToolChoice::Kind::kNamed) {
    writer.key("tool_choice");
    write_name(flat_name(choice.name_space, choice.name), writer);
  } else if (choice.kind != ToolChoice::Kind::kAbsent) {
    writer.field("tool_choice", mode_name(choice.kind));
  }
  // More than one at once is what an absent one means.
  if (choice.parallel == false && fidelity.says(Feature::kNoParallelCalls))
    writer.field("parallel_tool_calls", false);
}

}  // namespace

void write_chat_tools(const Request& request, Fidelity& fidelity, json::Writer& writer) {
  bool any = false;
  for (const Tool& tool : request.tools) {
    if (tool.kind == Tool::Kind::kServer) {
      fidelity.meet(Feature::kServerTool, tool.type);
      continue;
    }
    if (!any) {
      writer.key("tools");
      writer.begin_array();
    }
    any = true;
    meet_marks(tool, fidelity);
    write_function(tool, fidelity, writer);
  }
  if (!any) return;
  writer.end_array();
  write_choice(request.tool_choice, fidelity, writer);
}

}  // namespace hw::translate
