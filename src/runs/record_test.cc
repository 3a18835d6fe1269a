#include "runs/record.h"

#include <doctest/doctest.h>

namespace hw::runs {
namespace {

constexpr std::string_view kContractLine =
    R"({ "id": "req_1", "bucket": "short", "phase": "steady", "t_sched": 1, "t_disp": 2, )"
    R"("t_conn0": 3, "t_dns": 4, "t_tcp": 5, "t_tls": 6, "reused": true, "t_tx0": 7, )"
    R"("t_tx1": 8, "t_hdr": 9, "t_rx0": 10, "t_frame": 11, "t_tok": [12, 13], )"
    R"("chan": ["reasoning", "content"], "bytes": [4, 5], "ev_in_recv": [1, 2], )"
    R"("t_usage": 14, "t_done": 15, "t_close": 16, "outcome": "ok", "error_class": null, )"
    R"("status": 200, "finish_reason": "stop", "n_in": 12, "n_out": 34, )"
    R"("n_source": "usage", "cached_tokens": 0, "marks": ["coalesced"], "attempts": 1, )"
    R"("gateway_call": {"id": "req_1"} })";

TEST_CASE("a full line is read into its fields and written again as the same line") {
  const auto record = parse_record(kContractLine);
  REQUIRE(record.has_value());
  CHECK(record->bucket == "short");
  CHECK(record->t_sched == 1);
  CHECK(record->t_close == 16);
  REQUIRE(record->tokens.size() == 2);
  CHECK(record->tokens[0].channel == TokenChannel::kReasoning);
  CHECK(record->tokens[1].at == 13);
  CHECK(record->tokens[1].events_in_read == 2);
  CHECK(record->cached_tokens == 0);
  CHECK(record->has_mark("coalesced"));
  CHECK(record->gateway_call == R"({"id": "req_1"})");
  std::string once, twice;
  append_record(once, *record);
  const auto again = parse_record(once);
  REQUIRE(again.has_value());
  append_record(twice, *again);
  CHECK(once == twice);
  CHECK(once.back() == '\n');
}

TEST_CASE("what is missing is absent and never 0") {
  const auto record = parse_record(R"({"t_tok": [5], "t_tx0": null})");
  REQUIRE(record.has_value());
  CHECK_FALSE(record->t_tx0.has_value());
  CHECK_FALSE(record->n_out.has_value());
  CHECK_FALSE(record->status.has_value());
  CHECK(record->phase == Phase::kSteady);
  CHECK(record->outcome == RequestOutcome::kOk);
  std::string line;
  append_record(line, *record);
  CHECK(line.find("t_tx0") == std::string::npos);
}

TEST_CASE("without an outcome a refusal or an answer without tokens is not ok") {
  CHECK(parse_record(R"({"t_tok": [5], "status": 429})")->outcome == RequestOutcome::kEmpty);
  CHECK(parse_record("{}")->outcome == RequestOutcome::kEmpty);
}

TEST_CASE("lines that cannot be true are refused") {
  CHECK_FALSE(parse_record("").has_value());
  CHECK_FALSE(parse_record("[1]").has_value());
  CHECK_FALSE(parse_record(R"({"id": "a")").has_value());
  CHECK_FALSE(parse_record(R"({"outcome": "great"})").has_value());
  CHECK_FALSE(parse_record(R"({"phase": "lunch"})").has_value());
  CHECK_FALSE(parse_record(R"({"t_tok": [5, 4]})").has_value());
  CHECK_FALSE(parse_record(R"({"t_tok": [5, null]})").has_value());
  CHECK_FALSE(parse_record(R"({"t_tok": [5], "chan": ["smell"]})").has_value());
  CHECK_FALSE(parse_record(R"({"t_tok": [5], "bytes": [1, 2]})").has_value());
  CHECK_FALSE(parse_record(R"({"t_tx0": 9000000000000000000})").has_value());
}

TEST_CASE("the properties of tokens may come before their times") {
  const auto record = parse_record(R"({"chan": ["tool", "content"], "t_tok": [1, 2]})");
  REQUIRE(record.has_value());
  CHECK(record->tokens[0].channel == TokenChannel::kTool);
}

TEST_CASE("every outcome has a word of its own that reads back") {
  for (int i = 0; i < kRequestOutcomeCount; ++i) {
    const auto outcome = static_cast<RequestOutcome>(i);
    CHECK(parse_outcome(outcome_name(outcome)) == outcome);
  }
  CHECK_FALSE(is_failed(RequestOutcome::kCancelled));
  CHECK(is_failed(RequestOutcome::kTimeout));
}

}  // namespace
}  // namespace hw::runs
