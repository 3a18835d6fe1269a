// Asks a gateway what a client would learn from it: whether it lets a key in, and to which models.
#pragma once

#include <string>
#include <vector>

#include "setup/examination.h"

namespace hw::cli {

// GET /v1/models at `root` (a base URL without /v1) with `key`, and each of `models` that is not
// listed by its name, since a gateway serves names that it does not list (patterns). Waits 5 s at
// most for each answer. No proxy is used.
setup::ProbeAnswer ask_models(const std::string& root, const std::string& key,
                              const std::vector<std::string>& models);

}  // namespace hw::cli
