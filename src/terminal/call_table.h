// The call log as a table, one line a call; lines are made one by one, so that --follow can go on.
#pragma once

#include <string>

#include "config/language.h"
#include "terminal/output.h"
#include "timeline/call.h"

namespace hw::terminal {

// What fits: the narrow table in 100 columns; the wide one adds date, key and channel.
enum class TableWidth : unsigned char { kNarrow, kWide };
inline constexpr int kWideColumns = 150;

// The line above the calls.
std::string call_table_head(config::Language language, TableWidth width, Colour colour);
// One call with its line feed. Texts from outside are made printable and cut.
std::string call_table_line(const timeline::Call& call, config::Language language, TableWidth width,
                            Colour colour);

}  // namespace hw::terminal
