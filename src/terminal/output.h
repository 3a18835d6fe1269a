// What is on the other end of standard output, and how to write to it.
#pragma once

#include <string_view>

#include "config/secret.h"

namespace hw::terminal {

// Whether a text may hold escape sequences that colour it.
enum class Colour : unsigned char { kNone, kAnsi };

// Colours on a terminal only, and not with NO_COLOR set (https://no-color.org) or TERM=dumb.
Colour colour_of_output(const config::Environment& environment);

// Columns of the terminal on standard output; 0 where it is none.
int columns_of_output();

// Writes all of `text`; a reader that has gone ends the program quietly, as with other commands in
// a pipe.
void print(std::string_view text);
// A line to standard error, `headway: ` before it.
void complain(std::string_view line);
// A line to standard error as it is.
void note(std::string_view line);

}  // namespace hw::terminal
