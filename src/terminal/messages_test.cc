#include "terminal/messages.h"

#include <doctest/doctest.h>

using namespace hw;
using namespace hw::terminal;
using config::Language;

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("each text exists in both languages with the same placeholders") {
  for (int i = 0; i < kTextCount; ++i) {
    const config::Words words = words_of(static_cast<Text>(i));
    CAPTURE(words.en);
    CHECK_FALSE(words.en.empty());
    CHECK_FALSE(words.zh.empty());
    for (char digit = '0'; digit <= '9'; ++digit) {
      const std::string placeholder = std::string("{") + digit + "}";
      CHECK(has(words.en, placeholder) == has(words.zh, placeholder));
    }
  }
}

TEST_CASE("stages, outcomes and causes have words in both languages") {
  for (int i = 0; i < timeline::kStageKindCount; ++i) {
    const auto kind = static_cast<timeline::StageKind>(i);
    CHECK(stage_label(Language::kEnglish, kind) == timeline::stage_name(kind));
    for (const Language language : {Language::kEnglish, Language::kChinese}) {
      CHECK_FALSE(stage_label(language, kind).empty());
      CHECK_FALSE(stage_explained(language, kind).empty());
    }
  }
  for (int i = 0; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    CHECK(outcome_label(Language::kEnglish, outcome) == outcome_name(outcome));
    CHECK(outcome_label(Language::kChinese, outcome) != outcome_name(outcome));
  }
  for (int i = 0; i < 3; ++i) {
    const auto cause = static_cast<timeline::GapCause>(i);
    CHECK(gap_cause_label(Language::kEnglish, cause) == timeline::gap_cause_name(cause));
    CHECK_FALSE(gap_cause_label(Language::kChinese, cause).empty());
  }
}
