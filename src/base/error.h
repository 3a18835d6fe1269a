// What can go wrong in operation, and the one table that says how each failure looks on the wire.
//
// An Error is made where the failure is noticed and travels up in a Result. Only the edge (wire's
// error bodies) turns it into a status and a body; the mapping is error_info() and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw {

// Each class of failure. Switches over it have no default, so that a new one does not compile until
// every place has thought about it.
enum class ErrorCode : uint8_t {
  // The caller's request.
  kBadRequest,         // head, framing or JSON that cannot be read
  kWrongDialect,       // no channel of this model can be asked at the route
  kUnsupportedField,   // `detail` names a field that the channel's dialect cannot say
  kUnknownRoute,       // no such path
  kMethodNotAllowed,   // the path exists, the method does not
  kUpgradeRefused,     // WebSocket upgrade: answer 426 so that clients fall back to POST
  kUnknownModel,       // no channel serves the model
  kBodyTooLarge,       // above body_bytes_max
  kHeadTooLarge,       // above head_bytes_max
  kUnsupportedCoding,  // request content-encoding that we cannot decode
  kNotFound,           // a call, key or model that was looked up does not exist
  kTimeoutHead,        // the client took too long for its head
  kTimeoutBody,        // the client took too long for its body
  // The caller's key.
  kUnauthorized,  // no key, or none that we know
  kForbidden,     // the key may not do this
  kRateLimited,   // a limit of the key is reached
  // The gateway.
  kDraining,    // shutting down: try again elsewhere
  kOverloaded,  // connections_max, body_memory_bytes_max or another limit of ours
  kNoChannel,   // every channel that could serve is cooling down or excluded
  kInternal,    // our bug
  kStore,       // database or journal
  kConfig,      // configuration file
  // The channel.
  kConnect,             // DNS, TCP or TLS failed
  kUpstreamBroken,      // the connection broke before the answer was complete
  kUpstreamProtocol,    // not HTTP, or HTTP that breaks the rules
  kUpstreamDialect,     // HTML, text or nothing where the dialect's JSON or events belong
  kUpstreamUnfinished,  // the stream ended without its final event
  kUpstreamError,       // the upstream reported an error (status or in-band event)
  kChannelCredential,   // the upstream refused our credential
  kPoolFull,            // pool_wait_ms passed without a free connection
  kTimeoutConnect,
  kTimeoutFirstToken,
  kTimeoutSilence,
  kTimeoutBetweenTokens,
  kTimeoutTotal,
  kTimeoutWrite,  // the client took no byte for write_stall_ms
  // The client left; seen in logs only.
  kClientGone,
};
inline constexpr int kErrorCodeCount = static_cast<int>(ErrorCode::kClientGone) + 1;

// Who has to act; every message begins from this.
enum class Fault : uint8_t { kRequest, kKey, kGateway, kChannel, kClient };

// One row of the table: how a failure looks from outside.
struct ErrorInfo {
  ErrorCode code;
  int status;                       // HTTP status, 499 for kClientGone
  std::string_view name;            // stable snake_case word: `error.code` on the wire and in calls
  std::string_view openai_type;     // `error.type` in an OpenAI body
  std::string_view anthropic_type;  // `error.type` in an Anthropic body
  Fault fault;
  int retry_after_s;    // 0: no retry-after header
  int8_t should_retry;  // x-should-retry: 1 true, 0 false, -1 no header
};

// The row of a code. Never fails; the table is complete by a static check.
const ErrorInfo& error_info(ErrorCode code);

// A failure with what a person needs to mend it. `message` is shown to callers and must hold no
// secret; `detail` goes to the log only, but for kUnsupportedField.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string detail;
  bool retryable = false;  // another channel may succeed with the same request

  // Cold, all of them: compilers then move the paths to every failure out of the way of what runs.
  [[gnu::cold]] Error();
  [[gnu::cold]] Error(ErrorCode c, std::string m, std::string d = {});
  [[gnu::cold]] Error(const Error&);
  [[gnu::cold]] Error(Error&&) noexcept;
  [[gnu::cold]] Error& operator=(const Error&);
  [[gnu::cold]] Error& operator=(Error&&) noexcept;
  [[gnu::cold]] ~Error();
  // The row of error_info() in two words: HTTP status, and name on the wire.
  int status() const { return error_info(code).status; }
  std::string_view name() const { return error_info(code).name; }
};

}  // namespace hw
