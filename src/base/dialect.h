// The wire protocols that Headway speaks, and the outcome of an exchange: words that every module
// shares.
#pragma once

#include <cstdint>
#include <string_view>

namespace hw {

// The protocol of a request and its answer; names as in the documentation.
enum class Dialect : uint8_t {
  kOpenaiChat,         // POST /v1/chat/completions
  kOpenaiCompletions,  // POST /v1/completions
  kOpenaiResponses,    // POST /v1/responses
  kOpenaiEmbeddings,   // POST /v1/embeddings
  kAnthropicMessages,  // POST /v1/messages and /v1/messages/count_tokens
};
inline constexpr int kDialectCount = 5;

// "openai-chat" and so on.
std::string_view dialect_name(Dialect dialect);
// False where `name` is no dialect.
bool parse_dialect(std::string_view name, Dialect& out);

// What a channel speaks: one family of dialects.
enum class Family : uint8_t { kOpenai, kAnthropic };
Family family_of(Dialect dialect);
std::string_view family_name(Family family);

// How an exchange or an attempt ended (docs: the call record).
enum class Outcome : uint8_t {
  kOk,             // complete answer delivered
  kRejected,       // refused by Headway: 4xx of ours, 503 draining or full
  kClientError,    // the upstream answered a 4xx that is the caller's matter
  kUpstreamError,  // upstream status, connection, framing or dialect failed
  kTimeout,        // one of our clocks
  kClientGone,     // the client left
  kGatewayError,   // our bug
  kInterrupted,    // the process died meanwhile
};
inline constexpr int kOutcomeCount = 8;

// "ok", "rejected" and so on.
std::string_view outcome_name(Outcome outcome);
// False where `name` is no outcome.
bool parse_outcome(std::string_view name, Outcome& out);

}  // namespace hw
