#include "base/error.h"

#include <array>

namespace hw {
namespace {

using enum ErrorCode;
using enum Fault;

constexpr std::string_view kReq = "invalid_request_error";
constexpr std::string_view kAuth = "authentication_error";
constexpr std::string_view kServer = "server_error";
constexpr std::string_view kApi = "api_error";

// In the order of the enum, which the static_assert below holds. retry_after_s stays between 1 and
// 60: Claude Code gives up at once above 60, Codex gives up on a 429 without it.
constexpr std::array<ErrorInfo, kErrorCodeCount> kTable = {{
    {kBadRequest, 400, "bad_request", kReq, kReq, kRequest, 0, 0},
    {kWrongDialect, 400, "wrong_dialect", kReq, kReq, kRequest, 0, 0},
    {kUnsupportedField, 400, "unsupported_parameter", kReq, kReq, kRequest, 0, 0},
    {kUnknownRoute, 404, "unknown_route", kReq, "not_found_error", kRequest, 0, 0},
    {kMethodNotAllowed, 405, "method_not_allowed", kReq, kReq, kRequest, 0, 0},
    {kUpgradeRefused, 426, "upgrade_refused", kReq, kReq, kRequest, 0, 0},
    {kUnknownModel, 404, "model_not_found", kReq, "not_found_error", kRequest, 0, 0},
    {kBodyTooLarge, 413, "body_too_large", kReq, "request_too_large", kRequest, 0, 0},
    {kHeadTooLarge, 431, "head_too_large", kReq, kReq, kRequest, 0, 0},
    {kUnsupportedCoding, 415, "unsupported_coding", kReq, kReq, kRequest, 0, 0},
    {kNotFound, 404, "not_found", kReq, "not_found_error", kRequest, 0, 0},
    {kTimeoutHead, 408, "timeout_head", kReq, kReq, kRequest, 0, -1},
    {kTimeoutBody, 408, "timeout_body", kReq, kReq, kRequest, 0, -1},
    {kUnauthorized, 401, "invalid_api_key", kAuth, kAuth, kKey, 0, 0},
    {kForbidden, 403, "forbidden", "permission_error", "permission_error", kKey, 0, 0},
    {kRateLimited, 429, "rate_limit_exceeded", "rate_limit_error", "rate_limit_error", kKey, 1, -1},
    {kDraining, 503, "draining", kServer, "overloaded_error", kGateway, 1, -1},
    {kOverloaded, 503, "overloaded", kServer, "overloaded_error", kGateway, 1, -1},
    {kNoChannel, 503, "no_channel", kServer, "overloaded_error", kChannel, 1, -1},
    {kInternal, 500, "internal", kServer, kApi, kGateway, 0, -1},
    {kStore, 503, "store", kServer, kApi, kGateway, 1, -1},
    {kConfig, 500, "config", kServer, kApi, kGateway, 0, 0},
    {kConnect, 502, "channel_connect", kServer, kApi, kChannel, 0, -1},
    {kUpstreamBroken, 502, "channel_broken", kServer, kApi, kChannel, 0, -1},
    {kUpstreamProtocol, 502, "channel_protocol", kServer, kApi, kChannel, 0, -1},
    {kUpstreamDialect, 502, "channel_dialect", kServer, kApi, kChannel, 0, -1},
    {kUpstreamUnfinished, 502, "channel_unfinished", kServer, kApi, kChannel, 0, -1},
    {kUpstreamError, 502, "channel_error", kServer, kApi, kChannel, 0, -1},
    {kChannelCredential, 502, "channel_credential", kServer, kApi, kChannel, 0, -1},
    {kPoolFull, 503, "timeout_pool_wait", kServer, "overloaded_error", kChannel, 1, -1},
    {kTimeoutConnect, 504, "timeout_connect", kServer, "timeout_error", kChannel, 0, -1},
    {kTimeoutFirstToken, 504, "timeout_first_token", kServer, "timeout_error", kChannel, 0, -1},
    {kTimeoutSilence, 504, "timeout_silence", kServer, "timeout_error", kChannel, 0, -1},
    {kTimeoutBetweenTokens, 504, "timeout_between_tokens", kServer, "timeout_error", kChannel, 0,
     -1},
    {kTimeoutTotal, 504, "timeout_total", kServer, "timeout_error", kChannel, 0, -1},
    {kTimeoutWrite, 499, "timeout_write", kServer, kApi, kClient, 0, -1},
    {kClientGone, 499, "client_gone", kServer, kApi, kClient, 0, -1},
}};

constexpr bool in_order() {
  for (int i = 0; i < kErrorCodeCount; ++i) {
    if (static_cast<int>(kTable[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kTable must follow the order of ErrorCode");

}  // namespace

const ErrorInfo& error_info(ErrorCode code) {
  return kTable[static_cast<size_t>(code)];
}

Error::Error() = default;
Error::Error(ErrorCode c, std::string m, std::string d)
    : code(c), message(std::move(m)), detail(std::move(d)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

}  // namespace hw
