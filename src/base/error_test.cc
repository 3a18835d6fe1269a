#include "base/error.h"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

#include "base/result.h"

namespace hw {
namespace {

TEST_CASE("every failure has a row of its own that a client can act on") {
  std::set<std::string_view> names;
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const ErrorInfo& info = error_info(code);
    CAPTURE(info.name);
    CHECK(info.code == code);
    CHECK(info.status >= 400);
    CHECK(info.status <= 599);
    CHECK_FALSE(info.openai_type.empty());
    CHECK_FALSE(info.anthropic_type.empty());
    CHECK(info.should_retry >= -1);
    CHECK(info.should_retry <= 1);
    CHECK(info.retry_after_s >= 0);
    CHECK(info.retry_after_s <= 60);  // Claude Code gives up at once above
    names.insert(info.name);
  }
  CHECK(names.size() == kErrorCodeCount);
}

TEST_CASE("statuses that clients must try again later carry retry-after") {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    const ErrorInfo& info = error_info(static_cast<ErrorCode>(i));
    CAPTURE(info.name);
    CHECK((info.status == 429 || info.status == 503) == (info.retry_after_s > 0));
  }
}

TEST_CASE("the names that clients rely on are the ones of the contract") {
  CHECK(error_info(ErrorCode::kTimeoutFirstToken).name == "timeout_first_token");
  CHECK(error_info(ErrorCode::kTimeoutFirstToken).status == 504);
  CHECK(error_info(ErrorCode::kChannelCredential).name == "channel_credential");
  CHECK(error_info(ErrorCode::kChannelCredential).status == 502);
  CHECK(error_info(ErrorCode::kTimeoutBody).name == "timeout_body");
  CHECK(error_info(ErrorCode::kTimeoutBody).status == 408);
  CHECK(error_info(ErrorCode::kUnauthorized).should_retry == 0);
  CHECK(error_info(ErrorCode::kUpgradeRefused).status == 426);
  CHECK(error_info(ErrorCode::kClientGone).status == 499);
}

TEST_CASE("a result holds its value or the error that prevented it") {
  const auto half = [](int value) -> Result<int> {
    if (value % 2 != 0) return fail(ErrorCode::kBadRequest, "odd", "3");
    return value / 2;
  };
  CHECK(half(8).value() == 4);
  const Result<int> failed = half(3);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().code == ErrorCode::kBadRequest);
  CHECK(failed.error().message == "odd");
  CHECK(failed.error().detail == "3");
  CHECK(failed.error().status() == 400);
  CHECK(failed.error().name() == "bad_request");
  const Status passed_on = fail(failed.error());
  CHECK(passed_on.error().message == "odd");
}

}  // namespace
}  // namespace hw
