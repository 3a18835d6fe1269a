// /api/calls: the call log and single calls.
#pragma once

#include <string_view>

#include "console/api.h"

namespace hw::console {

// The conditions in a query string. kBadRequest names the parameter and what was expected of it; an
// unknown parameter is refused, since a filter that is ignored shows the wrong calls.
Result<store::CallQuery> parse_call_query(std::string_view query, Nanos now);

// GET /api/calls.
ApiResponse list_calls(const ApiSources& sources, std::string_view query);

// GET /api/calls/{id}; of several with one alias the latest. `owner`: only calls of this key, null
// for all; a call of another key is answered like one that does not exist.
ApiResponse show_call(const ApiSources& sources, std::string_view id, const access::Key* owner);

}  // namespace hw::console
