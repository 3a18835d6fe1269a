// The bodies of GET /v1/models and /v1/models/{id} in both families' shapes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/dialect.h"

namespace hw::wire {

// One model, appended. The time of its making is unknown and given as the epoch, which Anthropic's
// reference names for that case.
void append_model(std::string& out, Family family, std::string_view name);

// All models on one page, appended, in the given order.
void append_model_list(std::string& out, Family family, std::span<const std::string> names);

}  // namespace hw::wire
