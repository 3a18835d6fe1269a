// Plain tables for a terminal: columns as wide as their widest cell, counted in columns of the
// terminal.
#pragma once

#include <string>
#include <vector>

#include "terminal/output.h"

namespace hw::terminal {

// The cells of one line.
using Row = std::vector<std::string>;

// `header` and `rows` with two blanks between columns and none at the end of a line. Cells are made
// printable; rows may be shorter than the header.
std::string render_table(const Row& header, const std::vector<Row>& rows, Colour colour);

}  // namespace hw::terminal
