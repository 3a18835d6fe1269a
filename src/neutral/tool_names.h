// ToolNames: how the tools of a request are called on either side, so that an answer can name them
// as the client does: namespaces are flattened and long names cut on the way up, and both restored
// on the way down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neutral/request.h"

namespace hw::translate {

class ToolNames {
 public:
  // One tool as the client declared it.
  struct Entry {
    std::string flat;        // the name that the upstream was told
    std::string name_space;  // empty: none
    std::string name;
    ToolKind kind = ToolKind::kFunction;
  };

  ToolNames() = default;
  explicit ToolNames(const Request& request);

  // The tool that the upstream calls `flat`; null where the client declared none of that name.
  const Entry* find(const Text& flat) const;

 private:
  // Only those whose name changes and those that are no function: mostly none.
  std::vector<Entry> entries_;
};

// The most bytes of a tool's name that upstreams take (OpenAI, Anthropic: 64).
inline constexpr size_t kToolNameBytesMax = 64;

}  // namespace hw::translate
