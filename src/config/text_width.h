// Columns that a text takes on a terminal: Chinese letters take two. Padding, cutting and wrapping
// by columns, for tables and help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hw::config {

// Columns of UTF-8 `text`: 2 for East Asian wide and full-width characters, 0 for combining marks
// and controls, 1 for all else, a broken byte included.
int display_width(std::string_view text);

// `text` and as many blanks as make it `columns` wide; longer text stays as it is.
std::string pad_right(std::string_view text, int columns);
std::string pad_left(std::string_view text, int columns);

// At most `columns` wide; a text that is cut ends in "…".
std::string cut_to(std::string_view text, int columns);

// Lines of at most `columns`, broken at blanks or beside a wide character. A word that is longer
// stays whole.
std::vector<std::string> wrap(std::string_view text, int columns);

// `text` with control characters and broken UTF-8 made visible as "?", so that what comes from
// outside cannot steer a terminal.
std::string printable(std::string_view text);

}  // namespace hw::config
