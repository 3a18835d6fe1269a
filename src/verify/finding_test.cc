#include "verify/finding.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace hw::verify {
namespace {

std::set<char> placeholders(std::string_view text) {
  std::set<char> out;
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '{' && text[i + 2] == '}') out.insert(text[i + 1]);
  }
  return out;
}

bool has_chinese(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0xe3; });
}

TEST_CASE("every code has a name of its own and all texts in both languages") {
  std::set<std::string_view> names;
  for (int i = 0; i < kCodeCount; ++i) {
    const CodeInfo& info = code_info(static_cast<Code>(i));
    CAPTURE(info.name);
    CHECK(names.insert(info.name).second);
    for (const config::Words& words : {info.title, info.change, info.not_it}) {
      CHECK(!words.en.empty());
      CHECK(!has_chinese(words.en));
      CHECK((has_chinese(words.zh) || words.zh == words.en));
      CHECK(placeholders(words.en) == placeholders(words.zh));
    }
    CHECK(has_chinese(info.title.zh));
  }
}

TEST_CASE("steps and faults have stable names and labels in both languages") {
  std::set<std::string_view> names;
  for (int i = 0; i < kStepCount; ++i) {
    const auto step = static_cast<Step>(i);
    CHECK(names.insert(step_name(step)).second);
    CHECK(!step_label(config::Language::kChinese, step).empty());
  }
  for (const Blame blame :
       {Blame::kCommand, Blame::kKey, Blame::kNetwork, Blame::kGateway, Blame::kUpstream}) {
    CHECK(!blame_name(blame).empty());
    CHECK(has_chinese(blame_label(config::Language::kChinese, blame)));
  }
}

}  // namespace
}  // namespace hw::verify
