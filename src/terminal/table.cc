#include "terminal/table.h"

#include <algorithm>

#include "base/text.h"
#include "config/text_width.h"

namespace hw::terminal {
namespace {

std::string line_of(const Row& row, const std::vector<int>& widths) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    out += config::pad_right(config::printable(row[i]), widths[i] + 2);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string render_table(const Row& header, const std::vector<Row>& rows, Colour colour) {
  std::vector<int> widths(header.size());
  const auto widen = [&](const Row& row) {
    for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], config::display_width(config::printable(row[i])));
    }
  };
  widen(header);
  for (const Row& row : rows) widen(row);
  const std::string head = line_of(header, widths);
  std::string out = colour == Colour::kAnsi ? concat("\x1b[1m", head, "\x1b[0m\n") : head + "\n";
  for (const Row& row : rows) out += line_of(row, widths) + "\n";
  return out;
}

}  // namespace hw::terminal
