#include "terminal/call_table.h"

#include <doctest/doctest.h>

#include "config/text_width.h"
#include "terminal/sample_calls.h"

using namespace hw;
using namespace hw::terminal;
using config::Language;

TEST_CASE("a call is one line of the table, in 100 columns or wide") {
  const timeline::Call call = streamed_call();
  CHECK(
      call_table_head(Language::kEnglish, TableWidth::kNarrow, Colour::kNone) ==
      "ended (UTC)  id                             outcome            model         ttft ms  total "
      "ms  out\n");
  CHECK(call_table_line(call, Language::kEnglish, TableWidth::kNarrow, Colour::kNone) ==
        "00:00:00.933 req_01KE1QZX9G0123456789ABCDEF ok 200             gpt-4o          121.2     "
        "933.7   32\n");
  CHECK(
      call_table_line(call, Language::kChinese, TableWidth::kWide, Colour::kNone) ==
      "2026-01-01 00:00:00 req_01KE1QZX9G0123456789ABCDEF 成功 200           gpt-4o               "
      "dev          local             121.2       933.7     32\n");
}

TEST_CASE("what a call does not have is a dash, and no call breaks the table") {
  const std::string rejected =
      call_table_line(rejected_call(), Language::kEnglish, TableWidth::kNarrow, Colour::kNone);
  CHECK(rejected ==
        "00:00:00.000 req_01KE1QZX9G0123456789ABCDEF rejected 401       /v1/chat/co…        -     "
        "0.090    -\n");
  timeline::Call hostile = long_names_call();
  hostile.model = "a\n\x1b[2J" + hostile.model;
  for (const timeline::Call& call : {hostile, client_gone_call(), not_streamed_call()}) {
    for (const auto& [width, columns] :
         {std::pair(TableWidth::kNarrow, 100), std::pair(TableWidth::kWide, kWideColumns)}) {
      std::string line = call_table_line(call, Language::kChinese, width, Colour::kNone);
      REQUIRE(line.ends_with('\n'));
      line.pop_back();
      CHECK(config::display_width(line) <= columns);
      CHECK(config::printable(line) == line);
    }
  }
}

TEST_CASE("only what went wrong is coloured") {
  CHECK(call_table_line(streamed_call(), Language::kEnglish, TableWidth::kWide, Colour::kAnsi)[0] !=
        '\x1b');
  CHECK(call_table_line(rejected_call(), Language::kEnglish, TableWidth::kWide, Colour::kAnsi)
            .starts_with("\x1b[31m"));
}
