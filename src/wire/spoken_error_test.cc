#include "wire/spoken_error.h"

#include <doctest/doctest.h>

namespace hw::wire {
namespace {

TEST_CASE("an upstream's words stay for its own family and are found for the other") {
  const SpokenError overloaded(Family::kAnthropic, 529, {"overloaded_error", "", "Overloaded"});
  CHECK(overloaded.anthropic_type == "overloaded_error");
  CHECK(overloaded.openai_type == "server_error");
  CHECK(overloaded.message == "Overloaded");
  const SpokenError limit(Family::kOpenai, 429, {"tokens", "rate_limit_exceeded", "Slow down"});
  CHECK(limit.openai_type == "tokens");
  CHECK(limit.code == "rate_limit_exceeded");
  CHECK(limit.anthropic_type == "rate_limit_error");
}

TEST_CASE("inside a stream, where there is no status, the type decides") {
  const SpokenError said(Family::kAnthropic, 0, {"rate_limit_error", "", "Slow down"});
  CHECK(said.code == "rate_limit_exceeded");
  CHECK(said.openai_type == "rate_limit_error");
  const SpokenError unknown(Family::kOpenai, 0, {"odd", "", "?"});
  CHECK(unknown.anthropic_type == "api_error");
}

TEST_CASE("a prompt that is too long is said so that the other family's clients know it") {
  const SpokenError up(Family::kAnthropic, 400,
                       {"invalid_request_error", "", "prompt is too long: 9 tokens > 8 maximum"});
  CHECK(up.code == "context_length_exceeded");
  const SpokenError down(Family::kOpenai, 400,
                         {"invalid_request_error", "context_length_exceeded",
                          "This model's maximum context length is 8192 tokens. However, your "
                          "messages resulted in 10000 tokens."});
  CHECK(down.anthropic_type == "invalid_request_error");
  CHECK(down.message.starts_with("prompt is too long: 10000 tokens > 8192 maximum"));
}

}  // namespace
}  // namespace hw::wire
