// Rules about what was typed: the base URL, the key, and proxies of the environment.
#include <algorithm>

#include "base/text.h"
#include "verify/rules.h"

namespace hw::verify {

using probe::BaseUrl;
using probe::BodyKind;
using probe::Change;
using probe::Exchange;
using probe::Failure;
using probe::KeyLooks;
using probe::Progress;
using probe::ProxyChoice;
using probe::Record;
using probe::Try;
using probe::UrlGuess;
namespace {

bool is_wrong_place(int status) {
  return status == 404 || status == 405 || status == 410 || status == 501;
}

const Try* helpful(const Record& record, Change change) {
  for (const Try& each : record.tries) {
    if (each.helped && each.change == change) return &each;
  }
  return nullptr;
}

std::string_view fault_words(BaseUrl::Fault fault) {
  switch (fault) {
    case BaseUrl::Fault::kNone:
    case BaseUrl::Fault::kUserInIt:
      return {};
    case BaseUrl::Fault::kEmpty:
      return "empty";
    case BaseUrl::Fault::kNoScheme:
      return "no http:// or https://";
    case BaseUrl::Fault::kBlank:
      return "blank or control character";
    case BaseUrl::Fault::kNoHost:
      return "no host";
    case BaseUrl::Fault::kBadPort:
      return "port not in 1..65535";
  }
  return {};
}

Code code_of_guess(const Record& record, const Try& better) {
  const Exchange& first = record.tries.front().exchange;
  if (!record.url.query.empty() || !record.url.fragment.empty()) return Code::kUrlTracking;
  if (record.url.names_endpoint) return Code::kUrlEndpoint;
  if (first.reading.kind == BodyKind::kHtml) return Code::kUrlHomePage;
  switch (better.url_change.value_or(UrlGuess::Change::kRoot)) {
    case UrlGuess::Change::kNoQuery:
      return Code::kUrlTracking;
    case UrlGuess::Change::kNoEndpoint:
      return Code::kUrlEndpoint;
    case UrlGuess::Change::kOneV1:
      return Code::kUrlDoubledV1;
    case UrlGuess::Change::kAddV1:
      return Code::kUrlMissingV1;
    case UrlGuess::Change::kNoV1:
      return Code::kUrlExtraV1;
    case UrlGuess::Change::kApiV1:
    case UrlGuess::Change::kRoot:
      return Code::kUrlWrongPath;
  }
  return Code::kUrlWrongPath;
}

void judge_better_url(const Record& record, const Try& better, Findings& out) {
  const Code code = code_of_guess(record, better);
  const bool page = code == Code::kUrlHomePage;
  Finding& made = add(out, code, {page ? concat(": ", better.base_url) : better.base_url});
  made.evidence.push_back(what_came(record.tries.front().exchange));
  made.evidence.push_back(
      sentence({"with {0} an API answers (status {1})", "使用 {0} 时有接口应答（状态 {1}）"},
               {better.base_url, std::to_string(better.exchange.status)}));
}

std::string tried_urls(const Record& record) {
  std::string out;
  for (const Try& each : record.tries) {
    const bool place = each.change == Change::kNone || each.change == Change::kUrl ||
                       each.change == Change::kDialect;
    if (!place || out.find(each.exchange.url + ",") != std::string::npos) continue;
    out += concat(out.empty() ? "" : " ", each.exchange.url, ",");
  }
  if (out.ends_with(',')) out.pop_back();
  return out;
}

// No base URL that we could think of leads to an API.
void judge_no_api(const Record& record, Findings& out) {
  const Exchange& plain = record.plain();
  const bool shaped_wrong = !record.url.query.empty() || !record.url.fragment.empty();
  const bool page = plain.reading.kind == BodyKind::kHtml;
  const bool at_root = record.url.path.empty();
  if (shaped_wrong) {
    add(out, Code::kUrlTracking, {address_of(record.url)}).evidence.push_back(what_came(plain));
  } else if (plain.status >= 300 && plain.status < 400) {
    std::string target(plain.header("location"));
    const std::string_view suffix = probe::endpoint_suffix(plain.dialect);
    if (target.ends_with(suffix)) target.resize(target.size() - suffix.size());
    add(out, Code::kUrlRedirects, {target}).evidence.push_back(what_came(plain));
  } else if (page && at_root && (is_wrong_place(plain.status) || plain.status / 100 == 2)) {
    add(out, Code::kUrlHomePage, {""}).evidence.push_back(what_came(plain));
  } else if (is_wrong_place(plain.status)) {
    add(out, Code::kUrlWrongPath, {tried_urls(record)}).evidence.push_back(what_came(plain));
  }
}

void add_damage(const Record& record, Code code, std::vector<std::string> arguments,
                Findings& out) {
  Finding& made = add(out, code, std::move(arguments));
  if (record.tries.empty()) return;
  const Try* clean = nullptr;
  for (const Try& each : record.tries) {
    if (each.change == Change::kKey) clean = &each;
  }
  const Exchange& first = record.tries.front().exchange;
  if (clean == nullptr) {
    // The endpoint took it as it is, or was never reached.
    if (progress_of(record.plain(), record.model) >= Progress::kAccepted) {
      made.severity = Severity::kRemark;
      made.evidence.push_back(
          sentence({"this endpoint took it all the same; other clients may refuse to send it",
                    "此端点仍然接受了它；其他客户端可能拒绝发送"}));
    }
    return;
  }
  if (first.failure == Failure::kUnsendable) {
    made.evidence.push_back(what_failed(first));
  } else {
    made.evidence.push_back(words_of_error(first, first.reading.error));
  }
  const bool taken = progress_of(clean->exchange, record.model) >= Progress::kAccepted;
  made.evidence.push_back(
      taken ? sentence({"without it the key is taken", "去掉后密钥即被接受"})
            : sentence({"without it the key is not taken either", "去掉后密钥仍不被接受"}));
}

Code code_of_refusal(const Record& record) {
  if (!record.key.given) return Code::kKeyMissing;
  if (record.key.placeholder) return Code::kKeyPlaceholder;
  if (record.key.admin_token) return Code::kKeyAdminToken;
  if (record.key.bytes_expected > 0) return Code::kKeyIncomplete;
  return Code::kKeyRefused;
}

bool is_about_quota(const wire::ErrorWords& words) {
  for (const std::string_view word : {"insufficient_quota", "insufficient_user_quota",
                                      "billing_error", "insufficient_balance", "budget_exceeded"}) {
    if (words.code == word || words.type == word) return true;
  }
  for (const std::string_view word :
       {"exceeded your current quota", "nsufficient balance", "nsufficient credit",
        "credit balance is too low", "余额不足", "额度不足", "quota is not enough"}) {
    if (words.message.find(word) != std::string::npos) return true;
  }
  return false;
}

Finding* refusal(const Record& record, Findings& out) {
  const Exchange& plain = record.plain();
  const bool quota = plain.status == 402 || is_about_quota(plain.reading.error);
  if (quota && plain.status / 100 == 4) return &add(out, Code::kQuotaExhausted);
  if (progress_of(plain, record.model) != Progress::kApi) return nullptr;
  if (plain.status == 403 && record.key.given) return &add(out, Code::kKeyForbidden);
  // The damage says it already.
  if (record.key.damaged()) return nullptr;
  const Code code = code_of_refusal(record);
  return &add(out, code,
              code == Code::kKeyIncomplete
                  ? std::vector<std::string>{std::to_string(record.key.bytes),
                                             std::to_string(record.key.bytes_expected)}
                  : std::vector<std::string>{});
}

const Exchange* proxied(const Record& record) {
  for (const Try& each : record.tries) {
    if (each.exchange.through_proxy) return &each.exchange;
  }
  return nullptr;
}

void add_direct_evidence(const Record& record, Finding& finding) {
  for (const Try& each : record.tries) {
    if (each.change != Change::kDirect) continue;
    if (each.exchange.status != 0) {
      finding.evidence.push_back(
          sentence({"directly, without it, the endpoint answers (status {0})",
                    "不经代理直接连接，端点有应答（状态 {0}）"},
                   {std::to_string(each.exchange.status)}));
    } else {
      finding.evidence.push_back(sentence(
          {"directly, without it, it does not answer either", "不经代理直接连接也没有应答"}));
      finding.evidence.push_back(what_failed(each.exchange));
    }
  }
}

void judge_http_proxy(const Record& record, Findings& out) {
  const ProxyChoice& proxy = record.proxy;
  const Exchange* through = proxied(record);
  if (through == nullptr) return;
  const std::vector<std::string> arguments = {proxy.variable, proxy.shown, record.url.host};
  if (through->times.connected < 0) {
    Finding& made = add(out, Code::kProxyUnreachable, arguments);
    made.evidence.push_back(what_failed(*through));
    add_direct_evidence(record, made);
    return;
  }
  const bool answered_itself = through->failure == Failure::kTunnel || through->status == 407;
  if (answered_itself || helpful(record, Change::kDirect) != nullptr) {
    Finding& made = add(out, Code::kProxyRefuses, arguments);
    made.evidence.push_back(what_failed(*through));
    add_direct_evidence(record, made);
    return;
  }
  if (probe::is_private(record.url.host)) {
    add(out, Code::kProxyCatchesLocal, arguments).severity = Severity::kRemark;
  }
}

}  // namespace

void judge_url(const Record& record, Findings& out) {
  if (record.url.fault == BaseUrl::Fault::kUserInIt) {
    add(out, Code::kUrlUser);
    return;
  }
  if (record.url.fault != BaseUrl::Fault::kNone) {
    Finding& made = add(out, Code::kUrlInvalid, {std::string(fault_words(record.url.fault))});
    made.evidence.push_back(sentence({"given: \"{0}\"", "给出的是：\"{0}\""}, {record.url.given}));
    return;
  }
  if (record.tries.empty()) return;
  if (const Try* other = helpful(record, Change::kScheme); other != nullptr) {
    Finding& made = add(out, Code::kUrlScheme, {other->base_url});
    made.evidence.push_back(what_failed(record.tries.front().exchange));
  }
  if (const Try* better = helpful(record, Change::kUrl); better != nullptr) {
    judge_better_url(record, *better, out);
  } else if (const Try* other = helpful(record, Change::kDialect); other != nullptr) {
    if (record.dialect_named) {
      Finding& made = add(out, Code::kWrongDialect,
                          {std::string(dialect_name(record.dialect)),
                           std::string(dialect_name(other->exchange.dialect)), other->base_url});
      made.evidence.push_back(what_came(record.tries.front().exchange));
    } else if (other->url_change.has_value()) {
      judge_better_url(record, *other, out);
    }
  } else if (progress_of(record.plain(), record.model) == Progress::kHttp) {
    judge_no_api(record, out);
  } else if (!record.url.query.empty() || !record.url.fragment.empty()) {
    add(out, Code::kUrlTracking, {address_of(record.url)});
  }
}

void judge_key(const Record& record, Findings& out) {
  const KeyLooks& key = record.key;
  if (key.line_break) add_damage(record, Code::kKeyLineBreak, {}, out);
  if (key.blank && !key.line_break) {
    add_damage(record, Code::kKeyBlank,
               {std::to_string(key.blank_at + 1), std::to_string(key.bytes)}, out);
  }
  if (key.not_ascii) add_damage(record, Code::kKeyNotAscii, {}, out);
  if (key.quoted) add_damage(record, Code::kKeyQuoted, {}, out);
  if (key.has_scheme) add_damage(record, Code::kKeyScheme, {}, out);
  if (record.tries.empty()) return;
  const Try* header = helpful(record, Change::kKeyHeader);
  if (header != nullptr) {
    const Exchange& first = record.tries.front().exchange;
    Finding& made = add(out, Code::kKeyHeaderForm,
                        {std::string(key_header_name(header->exchange.key_header)),
                         std::string(key_header_name(first.key_header))});
    for (const Try& each : record.tries) {
      if (each.exchange.status == 401 || each.exchange.status == 403) {
        made.evidence.push_back(words_of_error(each.exchange, each.exchange.reading.error));
        break;
      }
    }
  }
  if (Finding* made = refusal(record, out); made != nullptr) {
    made->evidence.push_back(words_of_error(record.plain(), record.plain().reading.error));
    if (key.given && !key.begins_with.empty()) {
      made->evidence.push_back(sentence(
          {"the key begins with {0} and has {1} characters", "密钥以 {0} 开头，共 {1} 个字符"},
          {key.begins_with, std::to_string(key.bytes)}));
    }
  }
}

void judge_proxy(const Record& record, Findings& out) {
  const ProxyChoice& proxy = record.proxy;
  switch (proxy.kind) {
    case ProxyChoice::Kind::kNone:
    case ProxyChoice::Kind::kExcepted:
      return;
    case ProxyChoice::Kind::kInvalid:
      add(out, Code::kProxyInvalid, {proxy.variable, proxy.shown});
      return;
    case ProxyChoice::Kind::kUnsupported:
      add(out, Code::kProxyUnsupported, {proxy.variable, proxy.shown, record.url.host}).severity =
          Severity::kRemark;
      return;
    case ProxyChoice::Kind::kHttp:
      judge_http_proxy(record, out);
      return;
  }
}

}  // namespace hw::verify
