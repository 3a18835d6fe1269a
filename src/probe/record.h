// Record: everything that happened during one access check, step by step, and nothing about what it
// means. Rules read it; so a check can be judged again, or made up for a test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/dialect.h"
#include "net/certificate.h"
#include "probe/api_key.h"
#include "probe/base_url.h"
#include "probe/proxy.h"
#include "probe/reading.h"
#include "wire/upstream_error.h"

namespace hw::probe {

// Why an exchange has no complete answer.
enum class Failure : uint8_t {
  kNone,
  kUnsendable,  // a header that no client can send
  kDns,
  kConnect,  // TCP
  kTls,
  kTunnel,   // the proxy did not open its tunnel
  kClosed,   // connected, and closed before a byte of an answer
  kNotHttp,  // bytes that are no HTTP
  kCut,      // the answer ended before it was complete
  kTimeout,
  kTooLarge,
};

// How the key is presented.
enum class KeyHeader : uint8_t {
  kBearer,   // Authorization: Bearer KEY
  kXApiKey,  // x-api-key: KEY
  kApiKey,   // api-key: KEY (Azure)
};
// "Authorization: Bearer" and so on.
std::string_view key_header_name(KeyHeader header);

// One read of the socket that brought bytes of the body.
struct BodyRead {
  Nanos at = 0;  // since the exchange began, straight after the read
  size_t bytes = 0;
  uint32_t events = 0;        // that it completed
  uint32_t token_events = 0;  // those of them that carry generated text
};

// What a stream of events said, read along with wire::StreamObserver.
struct StreamSeen {
  uint64_t events = 0;
  uint64_t token_events = 0;
  uint64_t output_bytes = 0;
  bool finished = false;  // by the dialect's rule
  bool error = false;
  wire::ErrorWords error_words;
  std::string finish_reason;
  wire::Usage usage;
  uint64_t broken_events = 0;  // data that is neither JSON nor [DONE]
  std::string broken_event;    // the first of them, an excerpt
  size_t pending_bytes = 0;    // of an event that never ended
};

// Times of one exchange in nanoseconds since it began; -1: did not happen.
struct ExchangeTimes {
  Nanos resolved = -1;
  Nanos connected = -1;
  Nanos secured = -1;
  Nanos sent = -1;
  Nanos head = -1;
  Nanos first_byte = -1;  // of the body
  Nanos first_event = -1;
  Nanos first_token = -1;
  Nanos last_token = -1;
  Nanos terminal = -1;
  Nanos ended = 0;
};

// One request and what came back.
struct Exchange {
  // What was asked.
  std::string method = "POST";
  std::string url;  // whole, for people
  Dialect dialect = Dialect::kOpenaiChat;
  bool streamed = false;
  bool through_proxy = false;
  KeyHeader key_header = KeyHeader::kBearer;
  int max_tokens = 0;
  // What happened.
  ExchangeTimes times;
  Failure failure = Failure::kNone;
  std::string failure_words;           // of the operating system, OpenSSL or the parser
  std::vector<std::string> addresses;  // of the host, or of the proxy
  std::string peer;                    // "127.0.0.1:8080"
  int status = 0;                      // 0: no head came
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  bool kept_alive = false;  // the server would take another request on this connection
  std::string raw_start;    // first bytes on the connection, for an answer that is no HTTP
  std::string body;         // decoded; its beginning, at most kBodyBytesKept
  size_t body_bytes = 0;    // as they came, before decoding
  std::string coding;       // Content-Encoding; empty: none
  bool decoded = true;      // the coding was one we can undo, and its bytes were sound
  std::vector<BodyRead> reads;
  bool is_stream = false;  // the answer is a stream of events; then `stream` counts
  StreamSeen stream;
  Reading reading;  // of a body that is no stream

  // The value of a header, or empty; `name` in lower case.
  std::string_view header(std::string_view name) const;
  // A whole answer came: a head, and its body to the end.
  bool complete() const { return status != 0 && failure == Failure::kNone; }
};

// Bounds of what is kept of one answer.
inline constexpr size_t kBodyBytesKept = 256u << 10;
inline constexpr size_t kReadsKept = 20'000;
inline constexpr size_t kHeadersKept = 100;

// How far an exchange got, in order: what a change of the request is measured by.
enum class Progress : uint8_t {
  kNothing,     // not sent, or no address
  kAddress,     // a name was resolved
  kConnection,  // TCP stands
  kSecured,     // TLS stands, or is not asked for; no HTTP came back
  kHttp,        // an answer, but not of a model API
  kApi,         // a model API that refuses the key
  kAccepted,    // the key is taken; something else is refused
  kAnswer,      // an answer of the dialect
};
// Judges `exchange`, which asked for `model`.
Progress progress_of(const Exchange& exchange, std::string_view model);

// What was changed for another try.
enum class Change : uint8_t {
  kNone,
  kDirect,      // without the proxy of the environment
  kScheme,      // http instead of https, or the other way round
  kUrl,         // another base URL
  kDialect,     // another dialect, and the base URL that goes with it
  kKey,         // the key without what damaged it
  kKeyHeader,   // the key in another header
  kTokenLimit,  // max_completion_tokens instead of max_tokens
};

// One try of the request that is not streamed. The first is what the settings say; each of the
// others changes one thing of the best so far, and is the new best where it got further.
struct Try {
  Change change = Change::kNone;
  std::string base_url;  // what was used
  std::optional<UrlGuess::Change> url_change;
  bool helped = false;  // got further than what was best before; of the first: true
  Exchange exchange;
};

// What the gateway itself recorded of one of our requests: Headway only.
struct GatewayCall {
  std::string id;
  std::string json;     // the whole record; empty: it could not be had
  std::string refusal;  // why, in that case
  bool streamed = false;
  int64_t total_ns = -1;
  int64_t ttft_ns = -1;
  // Its attempts on channels.
  struct Attempt {
    std::string channel, outcome, error;
    int64_t status = 0;
  };
  std::vector<Attempt> attempts;
};

// One whole check.
struct Record {
  BaseUrl url;
  KeyLooks key;
  ProxyChoice proxy;
  Dialect dialect = Dialect::kOpenaiChat;  // of the first try
  bool dialect_named = false;              // by the user; else guessed
  std::string model;                       // asked for
  bool model_picked = false;               // none was named: taken from the list of models
  Nanos timeout_ns = 0;

  std::vector<Try> tries;  // empty where nothing could be sent
  std::optional<Exchange> stream;
  std::optional<Exchange> longer_stream;  // asked for more tokens, where `stream` came in one clump
  std::optional<Exchange> models_answer;
  std::vector<std::string> models;  // that the endpoint lists
  std::optional<net::CertificateFacts> certificate;
  std::vector<GatewayCall> gateway_calls;

  // The last try that helped: what the later requests are like. Precondition: tries not empty.
  const Try& best() const;
  const Exchange& plain() const { return best().exchange; }
};

}  // namespace hw::probe
