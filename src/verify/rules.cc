#include "verify/rules.h"

#include <algorithm>

#include "base/text.h"

namespace hw::verify {

using probe::BodyKind;
using probe::Exchange;
using probe::Failure;
namespace {

config::Words words_of_kind(BodyKind kind) {
  switch (kind) {
    case BodyKind::kEmpty:
      return {"an empty body", "空内容"};
    case BodyKind::kHtml:
      return {"a web page", "网页"};
    case BodyKind::kText:
      return {"text", "文本"};
    case BodyKind::kJsonBroken:
      return {"broken JSON", "残缺的 JSON"};
    case BodyKind::kJson:
      return {"JSON", "JSON"};
    case BodyKind::kJsonOther:
      return {"JSON that is no object", "不是对象的 JSON"};
    case BodyKind::kEvents:
      return {"events", "事件流"};
  }
  return {};
}

}  // namespace

Findings judge(const probe::Record& record) {
  Findings out;
  judge_url(record, out);
  judge_key(record, out);
  if (record.tries.empty()) return out;
  judge_proxy(record, out);
  judge_connection(record, out);
  judge_http(record, out);
  judge_answer(record, out);
  judge_stream(record, out);
  judge_retries(record, out);
  return out;
}

bool found(const Findings& findings, Code code) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& each) { return each.code == code; });
}

Finding& add(Findings& out, Code code, std::vector<std::string> arguments) {
  Finding made{code, Severity::kFailure, std::move(arguments), {}};
  out.push_back(std::move(made));
  return out.back();
}

std::string whole_ms(Nanos ns) {
  return std::to_string((ns + kMillisecond / 2) / kMillisecond);
}

std::string seconds(Nanos ns) {
  const Nanos tenths = (ns + kSecond / 20) / (kSecond / 10);
  if (tenths % 10 == 0) return std::to_string(tenths / 10);
  return concat(tenths / 10, ".", tenths % 10);
}

Sentence what_came(const Exchange& exchange) {
  const std::string server(exchange.header("server"));
  const config::Words kind =
      words_of_kind(exchange.is_stream ? BodyKind::kEvents : exchange.reading.kind);
  const std::string& title = exchange.reading.title;
  const std::string start = title.empty() ? exchange.reading.excerpt : title;
  // Two languages in one sentence's arguments would mix; the kind is spelled into the words.
  static const config::Words html = {"{0} {1}: status {2}{3}, a web page: {4}",
                                     "{0} {1}：状态 {2}{3}，网页：{4}"};
  static const config::Words other = {"{0} {1}: status {2}{3}, body: {4}",
                                      "{0} {1}：状态 {2}{3}，内容：{4}"};
  const bool page = !exchange.is_stream && exchange.reading.kind == BodyKind::kHtml;
  return sentence(page ? html : other,
                  {exchange.method, exchange.url, std::to_string(exchange.status),
                   server.empty() ? std::string() : concat(" (", server, ")"),
                   start.empty() ? std::string(kind.en) : start});
}

Sentence words_of_error(const Exchange& exchange, const wire::ErrorWords& words) {
  if (words.message.empty()) return what_came(exchange);
  std::string tags = words.type;
  if (!words.code.empty() && words.code != words.type) {
    tags += concat(tags.empty() ? "" : ", ", words.code);
  }
  return sentence(
      {"it says (status {0}{1}): {2}", "它说（状态 {0}{1}）：{2}"},
      {std::to_string(exchange.status), tags.empty() ? tags : concat(", ", tags), words.message});
}

Sentence what_failed(const Exchange& exchange) {
  const std::string& words = exchange.failure_words;
  const std::string why = words.empty() ? std::string() : concat(": ", words);
  switch (exchange.failure) {
    case Failure::kNone:
      return what_came(exchange);
    case Failure::kUnsendable:
      return sentence({"it cannot be sent in a header", "它无法放入请求头"});
    case Failure::kDns:
      return sentence({"looking up the name failed{0}", "域名解析失败{0}"}, {why});
    case Failure::kConnect:
      return sentence({"connecting failed{0}", "连接失败{0}"}, {why});
    case Failure::kTls:
      return sentence({"the TLS handshake failed{0}", "TLS 握手失败{0}"}, {why});
    case Failure::kTunnel:
      return sentence({"{0}", "{0}"}, {words});
    case Failure::kClosed:
      return sentence({"the connection to {0} stood, then was closed after {1} ms without an "
                       "answer{2}",
                       "与 {0} 的连接已建立，{1} 毫秒后未应答即关闭{2}"},
                      {exchange.peer, whole_ms(exchange.times.ended), why});
    case Failure::kNotHttp:
      return sentence({"{0} answered: {1}", "{0} 的应答：{1}"},
                      {exchange.peer, wire::excerpt(exchange.raw_start)});
    case Failure::kCut:
      return sentence({"{0} bytes of the body came in {1} ms, then the connection ended{2}",
                       "{1} 毫秒内收到 {0} 字节，随后连接结束{2}"},
                      {std::to_string(exchange.body_bytes), whole_ms(exchange.times.ended), why});
    case Failure::kTimeout:
      return sentence({"given up after {0} s", "{0} 秒后放弃"}, {seconds(exchange.times.ended)});
    case Failure::kTooLarge:
      return sentence({"{0} bytes came, then it was given up", "收到 {0} 字节后放弃"},
                      {std::to_string(exchange.body_bytes)});
  }
  return {};
}

}  // namespace hw::verify
