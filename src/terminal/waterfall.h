// The picture of one call for a terminal: stages as bars, attempts, the engine's part, gaps,
// tokens, and one sentence that says where the time went.
#pragma once

#include <string>

#include "config/language.h"
#include "terminal/output.h"
#include "timeline/call.h"

namespace hw::terminal {

// Pure. At most 100 columns, double-width characters counted; ends with a line feed. Texts from
// outside are made printable.
std::string render_waterfall(const timeline::Call& call, config::Language language, Colour colour);

// The sentence alone: which stage held most of the time, and what it waited for.
std::string where_the_time_went(const timeline::Call& call, config::Language language);

}  // namespace hw::terminal
