#include "base/dialect.h"

#include <doctest/doctest.h>

namespace hw {
namespace {

TEST_CASE("names of dialects and outcomes lead back to them") {
  for (int i = 0; i < kDialectCount; ++i) {
    const auto dialect = static_cast<Dialect>(i);
    Dialect parsed{};
    REQUIRE(parse_dialect(dialect_name(dialect), parsed));
    CHECK(parsed == dialect);
  }
  for (int i = 0; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    Outcome parsed{};
    REQUIRE(parse_outcome(outcome_name(outcome), parsed));
    CHECK(parsed == outcome);
  }
}

TEST_CASE("what is no name leaves the result as it was") {
  Dialect dialect = Dialect::kOpenaiResponses;
  CHECK_FALSE(parse_dialect("openai", dialect));
  CHECK_FALSE(parse_dialect("", dialect));
  CHECK(dialect == Dialect::kOpenaiResponses);
  Outcome outcome = Outcome::kTimeout;
  CHECK_FALSE(parse_outcome("OK", outcome));
  CHECK(outcome == Outcome::kTimeout);
}

TEST_CASE("messages are Anthropic's dialect, the others OpenAI's") {
  CHECK(family_of(Dialect::kAnthropicMessages) == Family::kAnthropic);
  CHECK(family_of(Dialect::kOpenaiChat) == Family::kOpenai);
  CHECK(family_of(Dialect::kOpenaiEmbeddings) == Family::kOpenai);
  CHECK(family_name(Family::kAnthropic) == "anthropic");
  CHECK(family_name(Family::kOpenai) == "openai");
  CHECK(dialect_name(Dialect::kOpenaiCompletions) == "openai-completions");
  CHECK(outcome_name(Outcome::kInterrupted) == "interrupted");
}

}  // namespace
}  // namespace hw
