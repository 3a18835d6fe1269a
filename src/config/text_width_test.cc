#include "config/text_width.h"

#include <doctest/doctest.h>

using namespace hw::config;

TEST_CASE("Chinese letters take two columns, marks and controls none") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("首字时间") == 8);
  CHECK(display_width("，。") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("█▏…·") == 4);
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("\xe4\xbd") == 2);
}

TEST_CASE("padding and cutting count columns, not bytes") {
  CHECK(pad_right("时间", 6) == "时间  ");
  CHECK(pad_left("12", 4) == "  12");
  CHECK(pad_right("toolong", 3) == "toolong");
  CHECK(cut_to("abcdef", 6) == "abcdef");
  CHECK(cut_to("abcdef", 5) == "abcd…");
  CHECK(cut_to("时间时间", 6) == "时间…");
  CHECK(display_width(cut_to("时间时间", 5)) <= 5);
}

TEST_CASE("wrapping keeps every line within the columns and loses no letter") {
  const std::string_view english = "one two three four five six seven";
  for (int columns = 5; columns < 40; ++columns) {
    std::string joined;
    for (const std::string& line : wrap(english, columns)) {
      CHECK(display_width(line) <= columns);
      joined += (joined.empty() ? "" : " ") + line;
    }
    CHECK(joined == english);
  }
  std::string joined;
  for (const std::string& line : wrap("大部分时间在等待上游的第一个令牌，请检查通道。", 10)) {
    CHECK(display_width(line) <= 12);  // a comma may hang
    joined += line;
  }
  CHECK(joined == "大部分时间在等待上游的第一个令牌，请检查通道。");
}

TEST_CASE("what comes from outside cannot steer a terminal") {
  CHECK(printable("ok 时间") == "ok 时间");
  CHECK(printable("a\x1b[31mb\r\n\x07") == "a?[31mb???");
  CHECK(printable("\xff\xc0\x80") == "???");
  CHECK(printable("\u202egnp") == "?gnp");
}
