#include "neutral/tool_names.h"

#include "neutral/digest.h"
#include "wire/upstream_error.h"

namespace hw::translate {
namespace {

// A name too long for the upstreams: what it begins with, for people and models, and a digest.
std::string shortened(const std::string& name) {
  std::string out;
  wire::keep(out, name, kToolNameBytesMax - 1 - kDigestBytes);
  out += '_';
  append_digest(out, name);
  return out;
}

}  // namespace

std::string flat_name(const Text& name_space, const Text& name) {
  std::string out;
  if (!name_space.empty()) {
    name_space.append_plain(out);
    out += "__";
  }
  name.append_plain(out);
  return out.size() > kToolNameBytesMax ? shortened(out) : out;
}

ToolNames::ToolNames(const Request& request) {
  for (const Tool& tool : request.tools) {
    if (tool.kind == Tool::Kind::kServer) continue;
    const ToolKind kind =
        tool.kind == Tool::Kind::kCustom ? ToolKind::kCustom : ToolKind::kFunction;
    std::string flat = flat_name(tool.name_space, tool.name);
    if (tool.name_space.empty() && kind == ToolKind::kFunction && tool.name.is(flat)) continue;
    entries_.push_back({std::move(flat), tool.name_space.str(), tool.name.str(), kind});
  }
}

const ToolNames::Entry* ToolNames::find(const Text& flat) const {
  for (const Entry& entry : entries_) {
    if (flat.is(entry.flat)) return &entry;
  }
  return nullptr;
}

}  // namespace hw::translate
