#include "verify/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "verify/record_samples.h"
#include "verify/verdict.h"

namespace hw::verify {
namespace {

using probe::Change;
using probe::Exchange;
using probe::Failure;
using probe::ProxyChoice;
using probe::Record;
using probe::UrlGuess;

// One fault as data: how a sound record is damaged, and the codes that must be found.
struct FaultCase {
  std::string_view name;
  std::vector<Code> codes;
  std::function<void(Record&)> damage;
};

std::string error_body(std::string_view message, std::string_view code = "") {
  return R"({"error":{"message":")" + std::string(message) + R"(","type":"t","code":")" +
         std::string(code) + R"("}})";
}

void better_url(Record& record, std::string_view given, UrlGuess::Change change) {
  record.url = probe::inspect_base_url(given);
  answer_with(record, answered(404, R"({"detail":"Not Found"})"));
  add_help(record, Change::kUrl, "http://api.test/v1").url_change = change;
}

void bad_key(Record& record, std::string_view key, int status = 401) {
  record.key = probe::look_at_key(key);
  answer_with(record, answered(status, error_body("Incorrect API key")));
}

void damaged_key(Record& record, std::string_view key) {
  bad_key(record, key);
  add_help(record, Change::kKey, "http://api.test/v1");
}

void through_proxy(Record& record, Exchange exchange, bool direct_works) {
  record.proxy.kind = ProxyChoice::Kind::kHttp;
  record.proxy.variable = "http_proxy";
  record.proxy.shown = "http://127.0.0.1:1";
  exchange.through_proxy = true;
  answer_with(record, std::move(exchange));
  if (direct_works) add_help(record, Change::kDirect, "http://api.test/v1");
}

void clump(Exchange& exchange) {
  exchange.reads.resize(1);
  exchange.reads[0].at = 500 * kMillisecond;
  exchange.reads[0].token_events = 10;
  exchange.times.first_token = exchange.times.last_token = exchange.reads[0].at;
}

std::vector<FaultCase> request_cases() {
  return {
      {"no scheme",
       {Code::kUrlInvalid},
       [](Record& r) { r.url = probe::inspect_base_url("a/v1"), r.tries.clear(); }},
      {"user",
       {Code::kUrlUser},
       [](Record& r) { r.url = probe::inspect_base_url("http://u:p@a/v1"), r.tries.clear(); }},
      {"tracking",
       {Code::kUrlTracking},
       [](Record& r) { better_url(r, "http://api.test/v1?utm=1", UrlGuess::Change::kNoQuery); }},
      {"tracking that a server reads over",
       {Code::kUrlTracking},
       [](Record& r) { r.url = probe::inspect_base_url("http://api.test/v1?utm=1"); }},
      {"endpoint",
       {Code::kUrlEndpoint},
       [](Record& r) {
         better_url(r, "http://api.test/v1/chat/completions", UrlGuess::Change::kNoEndpoint);
       }},
      {"v1 twice",
       {Code::kUrlDoubledV1},
       [](Record& r) { better_url(r, "http://api.test/v1/v1", UrlGuess::Change::kOneV1); }},
      {"no v1",
       {Code::kUrlMissingV1},
       [](Record& r) { better_url(r, "http://api.test", UrlGuess::Change::kAddV1); }},
      {"a v1 too many",
       {Code::kUrlExtraV1},
       [](Record& r) { better_url(r, "http://api.test/v1", UrlGuess::Change::kNoV1); }},
      {"wrong path, right one found",
       {Code::kUrlWrongPath},
       [](Record& r) { better_url(r, "http://api.test/x/v1", UrlGuess::Change::kRoot); }},
      {"wrong path",
       {Code::kUrlWrongPath},
       [](Record& r) { answer_with(r, answered(404, R"({"detail":"Not Found"})")); }},
      {"home page",
       {Code::kUrlHomePage},
       [](Record& r) {
         r.url = probe::inspect_base_url("http://api.test");
         answer_with(r, answered(404, "<html><title>Acme</title>"));
       }},
      {"redirect",
       {Code::kUrlRedirects},
       [](Record& r) {
         answer_with(r, answered(308, ""));
         r.tries[0].exchange.headers = {{"location", "https://api.test/v1/chat/completions"}};
       }},
      {"scheme",
       {Code::kUrlScheme},
       [](Record& r) {
         answer_with(r, answered(400, "The plain HTTP request was sent to HTTPS port"));
         add_help(r, Change::kScheme, "https://api.test/v1");
       }},
      {"dialect",
       {Code::kWrongDialect},
       [](Record& r) {
         answer_with(r, answered(404, ""));
         add_help(r, Change::kDialect, "http://api.test").exchange.dialect =
             Dialect::kOpenaiResponses;
       }},
      {"no key", {Code::kKeyMissing}, [](Record& r) { bad_key(r, ""); }},
      {"line break", {Code::kKeyLineBreak}, [](Record& r) { damaged_key(r, "sk-test-1\n"); }},
      {"blank", {Code::kKeyBlank}, [](Record& r) { damaged_key(r, "sk-test 1"); }},
      {"not ASCII", {Code::kKeyNotAscii}, [](Record& r) { damaged_key(r, "\u201csk-test-1"); }},
      {"quoted", {Code::kKeyQuoted}, [](Record& r) { damaged_key(r, "'sk-test-1'"); }},
      {"scheme in the key",
       {Code::kKeyScheme},
       [](Record& r) { damaged_key(r, "Bearer sk-test-1"); }},
      {"place-holder", {Code::kKeyPlaceholder}, [](Record& r) { bad_key(r, "YOUR_KEY"); }},
      {"incomplete", {Code::kKeyIncomplete}, [](Record& r) { bad_key(r, "hw-4f9a"); }},
      {"admin token", {Code::kKeyAdminToken}, [](Record& r) { bad_key(r, "hw-admin-4f9a"); }},
      {"header form",
       {Code::kKeyHeaderForm},
       [](Record& r) {
         bad_key(r, "sk-test-1");
         add_help(r, Change::kKeyHeader, "http://api.test/v1").exchange.key_header =
             probe::KeyHeader::kXApiKey;
       }},
      {"refused", {Code::kKeyRefused}, [](Record& r) { bad_key(r, "sk-test-1"); }},
      {"forbidden", {Code::kKeyForbidden}, [](Record& r) { bad_key(r, "sk-test-1", 403); }},
      {"quota",
       {Code::kQuotaExhausted},
       [](Record& r) { answer_with(r, answered(429, error_body("no", "insufficient_quota"))); }},
      {"dead proxy",
       {Code::kProxyUnreachable},
       [](Record& r) { through_proxy(r, failed(Failure::kConnect, "Connection refused"), true); }},
      {"dead proxy, dead endpoint",
       {Code::kProxyUnreachable},
       [](Record& r) { through_proxy(r, failed(Failure::kDns, "not known"), false); }},
      {"refusing proxy",
       {Code::kProxyRefuses},
       [](Record& r) { through_proxy(r, answered(403, "<html>no"), true); }},
      {"proxy that wants a password",
       {Code::kProxyRefuses},
       [](Record& r) { through_proxy(r, answered(407, ""), false); }},
      {"proxy value",
       {Code::kProxyInvalid},
       [](Record& r) { r.proxy.kind = ProxyChoice::Kind::kInvalid; }},
      {"socks proxy",
       {Code::kProxyUnsupported},
       [](Record& r) { r.proxy.kind = ProxyChoice::Kind::kUnsupported; }},
      {"proxy before this machine",
       {Code::kProxyCatchesLocal},
       [](Record& r) {
         through_proxy(r, sound_plain(), false);
         r.url = probe::inspect_base_url("http://localhost:8080/v1");
       }},
  };
}

std::vector<FaultCase> connection_cases() {
  const auto tls = [](std::string words) {
    return [words](Record& r) {
      answer_with(r, failed(Failure::kTls, words));
      r.certificate = net::CertificateFacts{};
    };
  };
  return {
      {"unknown name",
       {Code::kDnsUnknownName},
       [](Record& r) { answer_with(r, failed(Failure::kDns, "Name or service not known")); }},
      {"no name server",
       {Code::kDnsUnavailable},
       [](Record& r) {
         answer_with(r, failed(Failure::kDns, "Temporary failure in name resolution"));
       }},
      {"slow name server",
       {Code::kDnsSlow},
       [](Record& r) {
         r.tries[0].exchange.times.resolved = 3 * kSecond;
         r.tries[0].exchange.times.connected = 3 * kSecond + kMillisecond;
       }},
      {"closed port",
       {Code::kTcpRefused},
       [](Record& r) { answer_with(r, failed(Failure::kConnect, "Connection refused")); }},
      {"swallowed packets",
       {Code::kTcpTimeout},
       [](Record& r) { answer_with(r, failed(Failure::kConnect, "Connection timed out")); }},
      {"our own time-out of TCP",
       {Code::kTcpTimeout},
       [](Record& r) {
         answer_with(r, failed(Failure::kTimeout, ""));
         r.tries[0].exchange.times.connected = r.tries[0].exchange.times.sent = -1;
       }},
      {"no route",
       {Code::kTcpUnreachable},
       [](Record& r) { answer_with(r, failed(Failure::kConnect, "No route to host")); }},
      {"slow TCP",
       {Code::kTcpSlow},
       [](Record& r) { r.tries[0].exchange.times.connected = kSecond + 2 * kMillisecond; }},
      {"name mismatch", {Code::kTlsNameMismatch}, tls("certificate refused: hostname mismatch")},
      {"address mismatch",
       {Code::kTlsNameMismatch},
       tls("certificate refused: IP address mismatch")},
      {"expired", {Code::kTlsExpired}, tls("certificate refused: certificate has expired")},
      {"not yet valid",
       {Code::kTlsNotYetValid},
       tls("certificate refused: certificate is not yet valid")},
      {"self-signed", {Code::kTlsSelfSigned}, tls("certificate refused: self-signed certificate")},
      {"unknown issuer",
       {Code::kTlsUnknownIssuer},
       tls("certificate refused: unable to get local issuer certificate")},
      {"no TLS", {Code::kTlsNotSpoken}, tls("wrong version number")},
      {"other TLS", {Code::kTlsFailed}, tls("no protocols available")},
      {"closed",
       {Code::kConnectionClosed},
       [](Record& r) { answer_with(r, failed(Failure::kClosed, "")); }},
      {"no HTTP",
       {Code::kNotHttp},
       [](Record& r) { answer_with(r, failed(Failure::kNotHttp, "")); }},
      {"cut",
       {Code::kAnswerCut},
       [](Record& r) {
         answer_with(r, answered(200, "{"));
         r.tries[0].exchange.failure = Failure::kCut;
       }},
      {"endless",
       {Code::kAnswerTooLarge},
       [](Record& r) {
         answer_with(r, answered(200, "{"));
         r.tries[0].exchange.failure = Failure::kTooLarge;
       }},
      {"time-out before the first byte",
       {Code::kTimeoutFirstByte},
       [](Record& r) { answer_with(r, failed(Failure::kTimeout, "")); }},
      {"time-out after it",
       {Code::kTimeoutBody},
       [](Record& r) {
         answer_with(r, answered(200, "{"));
         r.tries[0].exchange.failure = Failure::kTimeout;
       }},
  };
}

std::vector<FaultCase> answer_cases() {
  const auto answer = [](int status, std::string body) {
    return [status, body](Record& r) { answer_with(r, answered(status, body)); };
  };
  return {
      {"filter", {Code::kBlockedByFilter}, answer(403, "<html><title>Attention</title>")},
      {"a page with 400", {Code::kBlockedByFilter}, answer(400, "<html>")},
      {"refused field", {Code::kRequestRefused}, answer(400, error_body("temperature"))},
      {"429 with retry-after",
       {Code::kRateLimited},
       [](Record& r) {
         answer_with(r, answered(429, error_body("slow down")));
         r.tries[0].exchange.headers = {{"retry-after", "5"}};
       }},
      {"429 without", {Code::kRateLimitedNoWait}, answer(429, error_body("slow down"))},
      {"overloaded", {Code::kOverloaded}, answer(503, error_body("busy"))},
      {"overloaded by word", {Code::kOverloaded}, answer(529, error_body("busy"))},
      {"500", {Code::kServerError}, answer(500, error_body("oops"))},
      {"502", {Code::kBadGateway}, answer(502, "<html>")},
      {"503 of a middle layer", {Code::kBadGateway}, answer(503, "no healthy upstream")},
      {"channel's credential",
       {Code::kChannelCredential},
       answer(502, error_body("refused", "channel_credential"))},
      {"no model",
       {Code::kModelMissing},
       [](Record& r) {
         r.model.clear();
         answer_with(r, answered(400, error_body("model is required")));
       }},
      {"unknown model", {Code::kModelUnknown}, answer(404, error_body("no", "model_not_found"))},
      {"page in a 200", {Code::kHtmlInOk}, answer(200, "<html><title>Log in</title>")},
      {"text in a 200", {Code::kTextInOk}, answer(200, "OK")},
      {"events though none were asked for", {Code::kTextInOk}, answer(200, "data: {}\n\n")},
      {"empty 200", {Code::kEmptyInOk}, answer(200, "")},
      {"broken JSON", {Code::kJsonBroken}, answer(200, "{\"choices\":[")},
      {"a list", {Code::kJsonBroken}, answer(200, "[1]")},
      {"error in a 200", {Code::kErrorInOk}, answer(200, error_body("died"))},
      {"no choices", {Code::kChoicesMissing}, answer(200, "{\"id\":\"1\"}")},
      {"choices null", {Code::kChoicesNull}, answer(200, "{\"choices\":null}")},
      {"choices empty", {Code::kChoicesEmpty}, answer(200, "{\"choices\":[]}")},
      {"no text",
       {Code::kAnswerWithoutText},
       answer(200, R"({"choices":[{"finish_reason":"stop","message":{"content":""}}]})")},
      {"unknown coding",
       {Code::kCodingUnknown},
       [](Record& r) {
         answer_with(r, answered(200, ""));
         r.tries[0].exchange.decoded = false;
       }},
      {"retries by header",
       {Code::kHiddenRetries},
       [](Record& r) { r.tries[0].exchange.headers = {{"x-litellm-attempted-retries", "1"}}; }},
      {"retries by the gateway's record",
       {Code::kHiddenRetries},
       [](Record& r) {
         probe::GatewayCall call;
         call.attempts.resize(2);
         r.gateway_calls.push_back(call);
       }},
  };
}

std::vector<FaultCase> stream_cases() {
  return {
      {"stream refused",
       {Code::kStreamRefused},
       [](Record& r) { r.stream = answered(400, error_body("no streams")); }},
      {"no stream", {Code::kStreamNotStreamed}, [](Record& r) { r.stream = sound_plain(); }},
      {"error for a stream",
       {Code::kErrorInOk},
       [](Record& r) { r.stream = answered(200, error_body("died")); }},
      {"stream's type",
       {Code::kStreamContentType},
       [](Record& r) { r.stream->headers = {{"content-type", "text/plain"}}; }},
      {"encoded stream",
       {Code::kStreamEncoded},
       [](Record& r) { r.stream->coding = "gzip", clump(*r.stream); }},
      {"error event",
       {Code::kStreamErrorEvent},
       [](Record& r) { r.stream->stream.error = true, r.stream->stream.finished = false; }},
      {"broken events",
       {Code::kStreamBrokenEvents},
       [](Record& r) { r.stream->stream.broken_events = 2; }},
      {"no tokens",
       {Code::kStreamWithoutTokens},
       [](Record& r) {
         r.stream->stream.token_events = 0, r.stream->reads.clear();
         r.stream->times.first_token = r.stream->times.last_token = -1;
       }},
      {"stream cut",
       {Code::kStreamCut},
       [](Record& r) { r.stream->failure = Failure::kCut, r.stream->stream.finished = false; }},
      {"stream closed at once",
       {Code::kStreamCut},
       [](Record& r) { r.stream = failed(Failure::kClosed, ""); }},
      {"no end", {Code::kStreamNoEnd}, [](Record& r) { r.stream->stream.finished = false; }},
      {"stalled",
       {Code::kStreamStalled},
       [](Record& r) { r.stream->failure = Failure::kTimeout, r.stream->stream.finished = false; }},
      {"no first event",
       {Code::kStreamTimeoutFirst},
       [](Record& r) { r.stream = failed(Failure::kTimeout, ""); }},
      {"one clump", {Code::kStreamOneClump}, [](Record& r) { clump(*r.stream); }},
      {"one clump twice",
       {Code::kStreamOneClump},
       [](Record& r) { clump(*r.stream), r.longer_stream = r.stream; }},
      {"clumps",
       {Code::kStreamClumps},
       [](Record& r) {
         for (size_t i = 0; i < r.stream->reads.size(); ++i) {
           r.stream->reads[i].at = (300 + 200 * static_cast<Nanos>(i)) * kMillisecond;
           r.stream->reads[i].token_events = 5;
         }
         r.stream->times.last_token = r.stream->reads.back().at;
       }},
  };
}

std::vector<FaultCase> all_cases() {
  std::vector<FaultCase> out;
  for (const std::vector<FaultCase>& part :
       {request_cases(), connection_cases(), answer_cases(), stream_cases()}) {
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

std::vector<Code> codes_of(const Findings& findings) {
  std::vector<Code> out;
  for (const Finding& finding : findings) out.push_back(finding.code);
  std::sort(out.begin(), out.end());
  return out;
}

TEST_CASE("of a sound record nothing is said") {
  CHECK(judge(sound_record()).empty());
  CHECK(conclude(sound_record()).conclusion == Conclusion::kFine);
}

TEST_CASE("each fault is called by exactly its code, with no placeholder left in its texts") {
  for (const FaultCase& one : all_cases()) {
    CAPTURE(one.name);
    Record record = sound_record();
    one.damage(record);
    const Findings findings = judge(record);
    CHECK(codes_of(findings) == one.codes);
    for (const Finding& finding : findings) {
      CAPTURE(finding.info().name);
      for (const config::Language language :
           {config::Language::kEnglish, config::Language::kChinese}) {
        const std::string texts =
            finding.title(language) + finding.change(language) + finding.not_it(language);
        CHECK(texts.find('{') == std::string::npos);
        for (const Sentence& evidence : finding.evidence) {
          CHECK(!evidence.in(language).empty());
          CHECK(evidence.in(language).find("{0}") == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("there is a case for every code") {
  std::set<Code> covered;
  for (const FaultCase& one : all_cases()) covered.insert(one.codes.begin(), one.codes.end());
  for (int i = 0; i < kCodeCount; ++i) {
    CAPTURE(code_info(static_cast<Code>(i)).name);
    CHECK(covered.contains(static_cast<Code>(i)));
  }
}

TEST_CASE("a stream that flows is no suspect because another stood still for a moment") {
  Record record = sound_record();
  clump(*record.stream);
  record.longer_stream = sound_stream();
  CHECK(judge(record).empty());
}

TEST_CASE("reasoning that is hidden, and a limit that is reached, are no empty answer") {
  Record record = sound_record();
  record.tries[0].exchange =
      answered(200, R"({"choices":[{"finish_reason":"length","message":{"content":""}}]})");
  record.stream->stream.token_events = 0;
  record.stream->stream.usage.reasoning = 48;
  CHECK(judge(record).empty());
}

TEST_CASE("a key that is odd and taken all the same is a remark") {
  Record record = sound_record();
  record.key = probe::look_at_key("sk-test-1 ");
  const Verdict verdict = conclude(record);
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].code == Code::kKeyBlank);
  CHECK(verdict.conclusion == Conclusion::kRemarks);
}

TEST_CASE("the conclusion tells what could not be reached from what answers wrongly") {
  const auto concluded = [](const std::function<void(Record&)>& damage) {
    Record record = sound_record();
    damage(record);
    return conclude(record).conclusion;
  };
  CHECK(concluded([](Record& r) { answer_with(r, failed(Failure::kDns, "not known")); }) ==
        Conclusion::kUnreachable);
  CHECK(concluded([](Record& r) { answer_with(r, failed(Failure::kTls, "x")); }) ==
        Conclusion::kUnreachable);
  CHECK(concluded([](Record& r) { answer_with(r, failed(Failure::kClosed, "")); }) ==
        Conclusion::kFailed);
  CHECK(concluded([](Record& r) { bad_key(r, "sk-test-1"); }) == Conclusion::kFailed);
  CHECK(concluded([](Record& r) { r.url = probe::inspect_base_url("a"), r.tries.clear(); }) ==
        Conclusion::kUnusable);
}

TEST_CASE("steps are marked up to where the request came") {
  Record record = sound_record();
  answer_with(record, failed(Failure::kConnect, "Connection refused"));
  const Verdict verdict = conclude(record);
  const auto mark = [&](Step step) { return verdict.steps[static_cast<size_t>(step)].mark; };
  CHECK(mark(Step::kUrl) == Mark::kFine);
  CHECK(mark(Step::kDns) == Mark::kFine);
  CHECK(mark(Step::kTcp) == Mark::kFailed);
  CHECK(mark(Step::kHttp) == Mark::kSkipped);
  CHECK(mark(Step::kEnd) == Mark::kSkipped);
}

}  // namespace
}  // namespace hw::verify
