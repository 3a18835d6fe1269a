// Call ids: the names by which a call of a tool and its result find each other, made legal in each
// dialect and brought back.
#pragma once

#include <string>
#include <string_view>

#include "base/dialect.h"
#include "neutral/text.h"

namespace hw::translate {

// Appends an upstream's `id` for a client of dialect `to`, as a JSON string: as it is where it is
// legal there (messages: letters, digits, `_`, `-`; at most 64 bytes, 40 in chat), else encoded,
// reversibly where that is short enough and by a digest of it otherwise. Different ids stay
// different, and the same id is always written alike.
void append_id_down(std::string& out, const Text& id, Dialect to);

// Appends a client's `id` for an upstream of dialect `to`: what append_id_down() encoded is undone,
// and what is not legal there is encoded.
void append_id_up(std::string& out, const Text& id, Dialect to);

}  // namespace hw::translate
