// /api/keys: keys made at run time, and the declared ones beside them.
#pragma once

#include <string_view>

#include "console/api.h"

namespace hw::console {

// GET /api/keys.
ApiResponse list_keys(const ApiSources& sources);
// POST /api/keys with {"name": "app", "models": ["a", "claude-*"]}; models may be left out.
ApiResponse create_key(const ApiSources& sources, std::string_view body);
// POST /api/keys/{id}/disable and /enable; by id or name.
ApiResponse set_key_state(const ApiSources& sources, std::string_view id, store::KeyState state);
// DELETE /api/keys/{id}.
ApiResponse remove_key(const ApiSources& sources, std::string_view id);

}  // namespace hw::console
