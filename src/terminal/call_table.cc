#include "terminal/call_table.h"

#include <vector>

#include "base/text.h"
#include "config/text_width.h"
#include "terminal/messages.h"
#include "terminal/milliseconds.h"

namespace hw::terminal {
namespace {

using config::Language;
using timeline::Call;

enum class Align : unsigned char { kLeft, kRight };

// One column: its head, its width in each table (0: not in it) and where its text stands.
struct Column {
  Text head;
  int narrow, wide;
  Align align = Align::kLeft;
};
constexpr Column kColumns[] = {
    {Text::kLogsTime, 12, 19},
    {Text::kTrace, 30, 30},
    {Text::kLogsOutcome, 18, 18},
    {Text::kLogsModel, 12, 20},
    {Text::kLogsKey, 0, 12},
    {Text::kLogsChannel, 0, 12},
    {Text::kLogsTtft, 8, 10, Align::kRight},
    {Text::kLogsTotal, 9, 11, Align::kRight},
    {Text::kLogsTokens, 4, 6, Align::kRight},
};

int width_of(const Column& column, TableWidth width) {
  return width == TableWidth::kWide ? column.wide : column.narrow;
}

// One blank between columns, none at the end.
std::string join(const std::vector<std::string>& cells, TableWidth width) {
  std::string out;
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    const int columns = width_of(kColumns[i], width);
    if (columns == 0) continue;
    const std::string cell = config::cut_to(config::printable(cells[i]), columns);
    if (!out.empty()) out += ' ';
    out += kColumns[i].align == Align::kRight ? config::pad_left(cell, columns)
                                              : config::pad_right(cell, columns);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// Whole milliseconds from a second on, tenths below; "-" for an absent value.
std::string short_ms(Nanos ns) {
  std::string out = about_ms(ns);
  if (out.ends_with(" ms")) out.resize(out.size() - 3);
  return out;
}

// The model; of a call that asks for none, such as the list of models, its path.
std::string asked_of(const Call& call) {
  return call.model.empty() ? call.endpoint : call.model;
}

// The log is in the order of endings.
std::string time_of(const Call& call, TableWidth width) {
  std::string text;
  append_rfc3339(text, call.arrived_wall + call.total_ns());  // 2026-01-01T00:00:00.000001Z
  text = text.substr(0, 23);
  text[10] = ' ';
  return width == TableWidth::kWide ? text.substr(0, 19) : text.substr(11, 12);
}

}  // namespace

std::string call_table_head(Language language, TableWidth width, Colour colour) {
  std::vector<std::string> cells;
  for (const Column& column : kColumns) {
    cells.push_back(column.head == Text::kTrace ? "id" : say(language, column.head));
  }
  const std::string line = join(cells, width);
  return colour == Colour::kAnsi ? concat("\x1b[1m", line, "\x1b[0m\n") : line + "\n";
}

std::string call_table_line(const Call& call, Language language, TableWidth width, Colour colour) {
  const timeline::Attempt* winner = call.winner();
  std::string outcome(outcome_label(language, call.outcome));
  if (call.status != 0) outcome += concat(" ", call.status);
  const bool counted = call.tokens.source != timeline::TokenSource::kNone;
  const std::string line =
      join({time_of(call, width), std::string(call.id.view()), outcome, asked_of(call), call.key,
            winner == nullptr ? std::string() : winner->channel, short_ms(timeline::ttft_ns(call)),
            short_ms(call.total_ns()), counted ? std::to_string(call.tokens.output) : "-"},
           width);
  if (colour == Colour::kNone || call.outcome == Outcome::kOk) return line + "\n";
  return concat("\x1b[31m", line, "\x1b[0m\n");
}

}  // namespace hw::terminal
