// Answers of the admin API in their common form.
#pragma once

#include <string>

#include "base/error.h"
#include "console/api.h"

namespace hw::console {

// `json` with a line feed at its end, so that a terminal shows it well.
ApiResponse json_answer(std::string json, int status = 200);

// {"error": {"code", "message", "type"}} with the status of the error's code.
ApiResponse error_answer(const Error& error);

}  // namespace hw::console
