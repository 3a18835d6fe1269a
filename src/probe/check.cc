#include "probe/check.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "json/scan.h"
#include "probe/flow.h"
#include "probe/request.h"

namespace hw::probe {
namespace {

constexpr size_t kModelsMax = 2000;
// Records are readable within a second of a call's end.
constexpr int kCallTries = 8;
constexpr auto kCallPause = std::chrono::milliseconds(200);

// What a request is made of; one of it changes at a time.
struct Setup {
  BaseUrl url;
  Dialect dialect = Dialect::kOpenaiChat;
  std::string key;
  KeyHeader key_header = KeyHeader::kBearer;
  TokenLimit limit = TokenLimit::kMaxTokens;
  bool direct = false;
};

bool is_plain_http_on_tls(const Exchange& exchange) {
  if (exchange.status == 400) {
    return exchange.body.find("HTTPS port") != std::string::npos ||
           exchange.body.find("HTTPS server") != std::string::npos;
  }
  // Some servers close at once what is no handshake.
  if (exchange.failure == Failure::kClosed) return !exchange.url.starts_with("https://");
  // A TLS alert: content type 21, version 3.x (RFC 8446 §5.1).
  return exchange.failure == Failure::kNotHttp && exchange.raw_start.starts_with("\x15\x03");
}

// A handshake that something else than a refused certificate ended. On networks of others this is
// left at that: the key must not go over them in clear.
bool is_tls_on_plain_http(const Exchange& exchange, std::string_view host) {
  if (!is_private(host) || exchange.times.connected < 0 || exchange.times.secured >= 0)
    return false;
  if (exchange.failure == Failure::kTimeout) return exchange.url.starts_with("https://");
  return exchange.failure == Failure::kTls &&
         exchange.failure_words.find("certificate") == std::string::npos;
}

class Check {
 public:
  explicit Check(const CheckSettings& settings) : settings_(settings) {}

  Record run() {
    record_.timeout_ns = settings_.limits.silence_ns;
    record_.url = inspect_base_url(settings_.base_url);
    record_.key = look_at_key(settings_.key);
    record_.model = settings_.model;
    record_.dialect_named = settings_.dialect.has_value();
    record_.dialect = settings_.dialect.value_or(
        guess_dialect(record_.url, settings_.model, cleaned_key(settings_.key)));
    if (record_.url.fault != BaseUrl::Fault::kNone) return std::move(record_);
    record_.proxy = choose_proxy(settings_.environment, record_.url);
    now_.url = record_.url;
    now_.dialect = record_.dialect;
    now_.key = settings_.key;
    now_.key_header = usual_key_header(record_.dialect);
    if (record_.model.empty()) pick_model();
    attempt(Change::kNone, now_);
    improve();
    look_closer();
    return std::move(record_);
  }

 private:
  Progress best_progress() const { return progress_of(record_.plain(), record_.model); }

  Request request_of(const Setup& setup, bool streamed, int max_tokens) const {
    Request out;
    out.url = setup.url;
    out.target = literal_target(setup.url, setup.dialect);
    // A whole endpoint that was given as base URL is asked for as clients would: below it.
    out.dialect = setup.dialect;
    out.streamed = streamed;
    out.key_header = setup.key_header;
    out.key = setup.key;
    out.max_tokens = max_tokens;
    out.body = compose_body(setup.dialect, record_.model, streamed, max_tokens, setup.limit);
    return out;
  }

  Exchange send(const Request& request, bool direct) {
    if (settings_.on_request) settings_.on_request(origin_of(request.url) + request.target);
    const ProxyChoice none;
    return perform(request, direct ? none : record_.proxy, settings_.limits);
  }

  // Sends the request of `setup`; true where it got further than what was best, and then `setup`
  // is what we go on with.
  bool attempt(Change change, const Setup& setup,
               std::optional<UrlGuess::Change> url_change = std::nullopt) {
    Try made;
    made.change = change;
    made.base_url = address_of(setup.url);
    made.url_change = url_change;
    made.exchange = send(request_of(setup, false, kPlainTokens), setup.direct);
    const Progress progress = progress_of(made.exchange, record_.model);
    // A port that speaks neither http nor https is not explained by the scheme.
    const bool enough = change != Change::kScheme || progress >= Progress::kHttp;
    made.helped = record_.tries.empty() || (enough && progress > best_progress());
    record_.tries.push_back(std::move(made));
    if (!record_.tries.back().helped) return false;
    now_ = setup;
    return true;
  }

  // Changes one thing at a time, each where what came back suggests it.
  void improve() {
    if (record_.plain().failure == Failure::kUnsendable) try_clean_key();
    if (record_.proxy.kind == ProxyChoice::Kind::kHttp && best_progress() < Progress::kApi) {
      Setup direct = now_;
      direct.direct = true;
      attempt(Change::kDirect, direct);
    }
    if (is_plain_http_on_tls(record_.plain()) ||
        is_tls_on_plain_http(record_.plain(), now_.url.host)) {
      Setup other = now_;
      other.url.tls = !other.url.tls;
      if (other.url.port == (other.url.tls ? 80 : 443)) other.url.port = other.url.tls ? 443 : 80;
      attempt(Change::kScheme, other);
    }
    if (best_progress() == Progress::kHttp) try_other_urls();
    if (best_progress() == Progress::kHttp) try_other_dialects();
    if (best_progress() == Progress::kApi && record_.key.damaged() && now_.key == settings_.key) {
      try_clean_key();
    }
    if (best_progress() == Progress::kApi && record_.key.given) try_other_headers();
    const Exchange& plain = record_.plain();
    if (plain.status == 400 && now_.dialect == Dialect::kOpenaiChat &&
        is_about_max_tokens(plain.reading.error)) {
      Setup other = now_;
      other.limit = TokenLimit::kMaxCompletionTokens;
      attempt(Change::kTokenLimit, other);
    }
  }

  void try_clean_key() {
    Setup clean = now_;
    clean.key = cleaned_key(settings_.key);
    if (clean.key != now_.key) attempt(Change::kKey, clean);
  }

  bool try_url(const Setup& from, const UrlGuess& guess, Change change) {
    Setup other = from;
    other.url = inspect_base_url(guess.base_url);
    return other.url.fault == BaseUrl::Fault::kNone && attempt(change, other, guess.change);
  }

  void try_other_urls() {
    const Setup from = now_;
    for (const UrlGuess& guess : guess_base_urls(from.url, from.dialect)) {
      if (try_url(from, guess, Change::kUrl)) return;
    }
  }

  void try_other_dialects() {
    constexpr size_t kGuesses = 2;
    const Setup from = now_;
    for (const Dialect dialect : {Dialect::kOpenaiChat, Dialect::kAnthropicMessages}) {
      if (dialect == from.dialect) continue;
      Setup other = from;
      other.dialect = dialect;
      other.key_header = usual_key_header(dialect);
      if (attempt(Change::kDialect, other)) return;
      const std::vector<UrlGuess> guesses = guess_base_urls(other.url, dialect);
      for (size_t i = 0; i < std::min(kGuesses, guesses.size()); ++i) {
        if (try_url(other, guesses[i], Change::kDialect)) return;
      }
    }
  }

  void try_other_headers() {
    const Setup from = now_;
    for (const KeyHeader header : {KeyHeader::kBearer, KeyHeader::kXApiKey, KeyHeader::kApiKey}) {
      if (header == from.key_header) continue;
      Setup other = from;
      other.key_header = header;
      if (attempt(Change::kKeyHeader, other)) return;
    }
  }

  // What else is worth knowing, now that the request is as good as it gets.
  void look_closer() {
    const Exchange& plain = record_.plain();
    if (plain.failure == Failure::kTls && !plain.through_proxy) {
      Result<net::CertificateFacts> facts =
          net::fetch_certificate(now_.url.host, now_.url.port, settings_.limits.connect_ns);
      if (facts.has_value()) record_.certificate = std::move(*facts);
    }
    const bool refused = plain.status >= 400 && best_progress() == Progress::kAccepted;
    if (refused && record_.models.empty() && is_about_model(plain.reading.error, record_.model)) {
      list_models(now_);
    }
    if (!worth_streaming(plain)) return;
    record_.stream = send(request_of(now_, true, kStreamTokens), now_.direct);
    const FlowKind flow = flow_of(*record_.stream).kind;
    if (flow == FlowKind::kOneClump) {
      record_.longer_stream = send(request_of(now_, true, kLongerStreamTokens), now_.direct);
    }
    fetch_call(plain);
    fetch_call(*record_.stream);
  }

  // Not where the answer to a stream is known: a refusal, an error, a page.
  static bool worth_streaming(const Exchange& plain) {
    if (plain.failure == Failure::kTimeout) return plain.times.sent >= 0;
    if (plain.status / 100 != 2) return false;
    if (plain.is_stream || !plain.decoded) return true;
    return plain.reading.kind == BodyKind::kJson && !plain.reading.error_member;
  }

  void list_models(const Setup& setup) {
    Request request;
    request.method = "GET";
    request.url = setup.url;
    request.target = models_target(setup.url, setup.dialect);
    request.dialect = setup.dialect;
    request.key = setup.key;
    request.key_header = setup.key_header;
    record_.models_answer = send(request, setup.direct);
    if (record_.models_answer->status == 200) {
      record_.models = read_model_list(record_.models_answer->body, kModelsMax);
    }
  }

  void pick_model() {
    Setup setup = now_;
    list_models(setup);
    if (record_.models.empty() && !setup.url.path.ends_with("/v1") &&
        family_of(setup.dialect) == Family::kOpenai) {
      setup.url.path += "/v1";
      list_models(setup);
    }
    if (record_.models.empty()) return;
    record_.model = record_.models.front();
    record_.model_picked = true;
  }

  // Headway tells its own times of the same request to whoever holds the key.
  void fetch_call(const Exchange& exchange) {
    const std::string_view id = exchange.header("x-request-id");
    if (exchange.header("x-headway-trace-id").empty() || !id.starts_with("req_")) return;
    Request request;
    request.method = "GET";
    request.url = now_.url;
    std::string_view root = now_.url.path;
    while (root.ends_with("/v1")) root.remove_suffix(3);
    request.target = concat(root, "/api/calls/", id);
    request.key = now_.key;
    GatewayCall call;
    call.id = std::string(id);
    call.streamed = exchange.streamed;
    for (int i = 0; i < kCallTries; ++i) {
      const Exchange answer = send(request, now_.direct);
      if (answer.status == 200) {
        read_call(answer.body, call);
        break;
      }
      call.refusal = answer.reading.error.message;
      if (answer.status != 404) break;
      std::this_thread::sleep_for(kCallPause);
    }
    record_.gateway_calls.push_back(std::move(call));
  }

  static void read_call(const std::string& json, GatewayCall& out) {
    json::Document document(ErrorCode::kUpstreamDialect);
    if (!document.open(json)) return;
    out.json = json;
    out.total_ns = document.root().find("total_ns").integer().value_or(-1);
    out.ttft_ns = document.root().find("ttft_ns").integer().value_or(-1);
    document.root().find("attempts").array().each([&](const json::Value& value) {
      GatewayCall::Attempt attempt;
      value.object().each([&](std::string_view key, const json::Value& member) {
        if (key == "channel") attempt.channel = std::string(member.text_or(""));
        if (key == "outcome") attempt.outcome = std::string(member.text_or(""));
        if (key == "status") attempt.status = member.integer().value_or(0);
        if (key == "error") {
          const std::string_view words = member.object().find("message").text_or("");
          attempt.error = std::string(words.empty() ? member.text_or("") : words);
        }
      });
      out.attempts.push_back(std::move(attempt));
    });
  }

  const CheckSettings& settings_;
  Record record_;
  Setup now_;
};

}  // namespace

Record run_check(const CheckSettings& settings) {
  return Check(settings).run();
}

}  // namespace hw::probe
