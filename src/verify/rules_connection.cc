// Rules about the way to the endpoint: names, TCP, TLS, HTTP.
#include "base/text.h"
#include "verify/rules.h"

namespace hw::verify {

using probe::BodyKind;
using probe::Exchange;
using probe::Failure;
using probe::Progress;
using probe::Record;
namespace {

// A look-up takes some milliseconds, a far one a few hundred; a second is a lost packet's time-out.
constexpr Nanos kDnsSlow = kSecond;
// The farthest places are 300 ms away; a lost SYN is sent again after a second (RFC 6298 §2.1).
constexpr Nanos kTcpSlow = 800 * kMillisecond;

bool says(const Exchange& exchange, std::string_view words) {
  return exchange.failure_words.find(words) != std::string::npos;
}

std::string place(const Record& record) {
  return concat(record.url.host, ":", record.url.port);
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += concat(out.empty() ? "" : ", ", name);
  return out;
}

void judge_dns(const Record& record, const Exchange& exchange, Findings& out) {
  const bool unknown = says(exchange, "not known") || says(exchange, "No address");
  const Code code = unknown ? Code::kDnsUnknownName : Code::kDnsUnavailable;
  add(out, code, {record.url.host}).evidence.push_back(what_failed(exchange));
}

void judge_tcp(const Record& record, const Exchange& exchange, Findings& out) {
  if (says(exchange, "refused")) {
    Finding& made = add(out, Code::kTcpRefused, {place(record)});
    made.evidence.push_back(what_failed(exchange));
    if (probe::is_loopback(record.url.host)) {
      made.evidence.push_back(
          sentence({"{0} is this machine; inside a container it is the container",
                    "{0} 是本机；在容器中则是容器自身"},
                   {record.url.host}));
    }
  } else if (says(exchange, "timed out")) {
    add(out, Code::kTcpTimeout, {place(record)}).evidence.push_back(what_failed(exchange));
  } else {
    add(out, Code::kTcpUnreachable, {place(record), exchange.failure_words});
  }
}

Code code_of_tls(const Exchange& exchange) {
  if (says(exchange, "mismatch")) return Code::kTlsNameMismatch;
  if (says(exchange, "has expired")) return Code::kTlsExpired;
  if (says(exchange, "not yet valid")) return Code::kTlsNotYetValid;
  if (says(exchange, "self-signed") || says(exchange, "self signed")) return Code::kTlsSelfSigned;
  if (says(exchange, "issuer certificate") || says(exchange, "verify the first")) {
    return Code::kTlsUnknownIssuer;
  }
  if (says(exchange, "wrong version") || says(exchange, "packet length") ||
      says(exchange, "http request")) {
    return Code::kTlsNotSpoken;
  }
  return Code::kTlsFailed;
}

std::vector<std::string> tls_arguments(const Record& record, const Exchange& exchange, Code code) {
  const net::CertificateFacts facts = record.certificate.value_or(net::CertificateFacts{});
  if (code == Code::kTlsNameMismatch) {
    return {record.url.host, facts.names.empty() ? facts.subject : joined(facts.names)};
  }
  if (code == Code::kTlsExpired) {
    return {facts.not_after.empty() ? "" : concat(": ", facts.not_after, " UTC")};
  }
  if (code == Code::kTlsNotYetValid) {
    return {facts.not_before.empty() ? "" : concat(": ", facts.not_before, " UTC")};
  }
  if (code == Code::kTlsUnknownIssuer) return {facts.issuer.empty() ? "?" : facts.issuer};
  if (code == Code::kTlsFailed) return {exchange.failure_words};
  return {};
}

void judge_tls(const Record& record, const Exchange& exchange, Findings& out) {
  const Code code = code_of_tls(exchange);
  Finding& made = add(out, code, tls_arguments(record, exchange, code));
  made.evidence.push_back(what_failed(exchange));
  if (!record.certificate.has_value()) return;
  const net::CertificateFacts& facts = *record.certificate;
  made.evidence.push_back(
      sentence({"the certificate: {0}, issued by {1}, for {2}, from {3} to {4} UTC; {5} sent",
                "证书：{0}，颁发者 {1}，用于 {2}，有效期 {3} 至 {4} UTC；共发送 {5} 张"},
               {facts.subject, facts.issuer, joined(facts.names), facts.not_before, facts.not_after,
                std::to_string(facts.sent)}));
}

void judge_slowness(const Record& record, const Exchange& exchange, Findings& out) {
  const probe::ExchangeTimes& times = exchange.times;
  if (times.resolved > kDnsSlow) {
    Finding& made = add(out, Code::kDnsSlow, {record.url.host, whole_ms(times.resolved)});
    made.severity = Severity::kRemark;
  }
  if (times.connected >= 0 && times.connected - times.resolved > kTcpSlow) {
    Finding& made = add(out, Code::kTcpSlow,
                        {exchange.peer.empty() ? place(record) : exchange.peer,
                         whole_ms(times.connected - times.resolved)});
    made.severity = Severity::kRemark;
  }
}

// A time-out before the request was out.
void judge_connect_timeout(const Record& record, const Exchange& exchange, Findings& out) {
  if (exchange.times.resolved < 0) {
    add(out, Code::kDnsUnavailable, {record.url.host}).evidence.push_back(what_failed(exchange));
  } else if (exchange.times.connected < 0) {
    add(out, Code::kTcpTimeout, {place(record)}).evidence.push_back(what_failed(exchange));
  } else {
    Finding& made = add(out, Code::kTlsFailed, {"no answer to the handshake"});
    made.evidence.push_back(what_failed(exchange));
  }
}

// An answer's time-out, by what had come; how long was waited is the silence allowed.
void judge_answer_timeout(const Record& record, const Exchange& exchange, Findings& out) {
  const bool begun = exchange.status != 0;
  Finding& made =
      add(out, begun ? Code::kTimeoutBody : Code::kTimeoutFirstByte, {seconds(record.timeout_ns)});
  if (begun) {
    made.evidence.push_back(
        sentence({"the head (status {0}) came after {1} ms, then {2} bytes",
                  "响应头（状态 {0}）在 {1} 毫秒后到达，随后有 {2} 字节"},
                 {std::to_string(exchange.status), whole_ms(exchange.times.head),
                  std::to_string(exchange.body_bytes)}));
  } else {
    made.evidence.push_back(sentence(
        {"connected to {0} after {1} ms, request sent after {2} ms",
         "{1} 毫秒后连接到 {0}，{2} 毫秒后请求发送完毕"},
        {exchange.peer, whole_ms(exchange.times.connected), whole_ms(exchange.times.sent)}));
  }
  if (record.stream.has_value() && record.stream->times.first_event >= 0) {
    made.evidence.push_back(sentence(
        {"streamed, the first event came after {0} ms", "流式时，首个事件在 {0} 毫秒后到达"},
        {whole_ms(record.stream->times.first_event)}));
  }
}

}  // namespace

void judge_connection(const Record& record, Findings& out) {
  const Exchange& exchange = record.plain();
  // What fails on the way to the proxy is the proxy's; judge_proxy has said it.
  if (exchange.through_proxy && exchange.times.connected < 0) return;
  switch (exchange.failure) {
    case Failure::kDns:
      judge_dns(record, exchange, out);
      break;
    case Failure::kConnect:
      judge_tcp(record, exchange, out);
      break;
    case Failure::kTls:
      judge_tls(record, exchange, out);
      break;
    case Failure::kTimeout:
      if (exchange.times.sent < 0) judge_connect_timeout(record, exchange, out);
      break;
    case Failure::kNone:
    case Failure::kUnsendable:
    case Failure::kTunnel:
    case Failure::kClosed:
    case Failure::kNotHttp:
    case Failure::kCut:
    case Failure::kTooLarge:
      break;
  }
  judge_slowness(record, exchange, out);
}

void judge_http(const Record& record, Findings& out) {
  const Exchange& exchange = record.plain();
  switch (exchange.failure) {
    case Failure::kClosed:
      add(out, Code::kConnectionClosed).evidence.push_back(what_failed(exchange));
      break;
    case Failure::kNotHttp:
      add(out, Code::kNotHttp).evidence.push_back(what_failed(exchange));
      break;
    case Failure::kCut:
      add(out, Code::kAnswerCut).evidence.push_back(what_failed(exchange));
      break;
    case Failure::kTooLarge:
      add(out, Code::kAnswerTooLarge).evidence.push_back(what_failed(exchange));
      break;
    case Failure::kTimeout:
      if (exchange.times.sent >= 0) judge_answer_timeout(record, exchange, out);
      break;
    case Failure::kNone:
    case Failure::kUnsendable:
    case Failure::kDns:
    case Failure::kConnect:
    case Failure::kTls:
    case Failure::kTunnel:
      break;
  }
}

}  // namespace hw::verify
