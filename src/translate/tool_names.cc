#include "translate/tool_names.h"

namespace hw::translate {

std::string flat_name(const Text& name_space, const Text& name) {
  std::string out;
  if (!name_space.empty()) {
    name_space.append_plain(out);
    out += "__";
  }
  name.append_plain(out);
  return out;
}

ToolNames::ToolNames(const Request& request) {
  for (const Tool& tool : request.tools) {
    if (tool.kind == Tool::Kind::kServer) continue;
    const ToolKind kind =
        tool.kind == Tool::Kind::kCustom ? ToolKind::kCustom : ToolKind::kFunction;
    if (tool.name_space.empty() && kind == ToolKind::kFunction) continue;
    entries_.push_back(
        {flat_name(tool.name_space, tool.name), tool.name_space.str(), tool.name.str(), kind});
  }
}

const ToolNames::Entry* ToolNames::find(const Text& flat) const {
  for (const Entry& entry : entries_) {
    if (flat.is(entry.flat)) return &entry;
  }
  return nullptr;
}

}  // namespace hw::translate
