#include "setup/finding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace hw;
using namespace hw::setup;

TEST_CASE("every code has a name of its own and texts in both languages with the same places") {
  std::set<std::string_view> names;
  for (int i = 0; i < kCodeCount; ++i) {
    const auto code = static_cast<Code>(i);
    const std::string_view name = code_name(code);
    CAPTURE(name);
    CHECK(names.insert(name).second);
    CHECK(std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }));
    const config::Words words = code_words(code);
    CHECK_FALSE(words.en.empty());
    CHECK_FALSE(words.zh.empty());
    for (char digit = '0'; digit <= '9'; ++digit) {
      const std::string place = std::string("{") + digit + "}";
      CHECK((words.en.find(place) == std::string_view::npos) ==
            (words.zh.find(place) == std::string_view::npos));
    }
  }
}

TEST_CASE("a finding says its sentence in either language") {
  const Finding finding = make_finding(Code::kWireChat, {"config.toml", 9}, {"chat"}, "");
  CHECK(finding.severity == Severity::kWrong);
  CHECK(describe(finding, config::Language::kEnglish).find("\"responses\" only") !=
        std::string::npos);
  CHECK(describe(finding, config::Language::kChinese).find("chat") != std::string::npos);
}

TEST_CASE("the page about client set-ups names every code with its severity") {
  std::ifstream file("docs/clients.md");
  std::ostringstream page;
  page << file.rdbuf();
  for (int i = 0; i < kCodeCount; ++i) {
    const auto code = static_cast<Code>(i);
    const std::string row = "| `" + std::string(code_name(code)) + "` | " +
                            std::string(severity_name(usual_severity(code))) + " |";
    CAPTURE(row);
    CHECK(page.str().find(row) != std::string::npos);
  }
}
