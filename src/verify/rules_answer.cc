// Rules about what an endpoint answered to the request that was not streamed.
#include <algorithm>

#include "base/text.h"
#include "verify/nearest.h"
#include "verify/rules.h"

namespace hw::verify {

using probe::AnswerMember;
using probe::BodyKind;
using probe::Exchange;
using probe::Progress;
using probe::Reading;
using probe::Record;
namespace {

constexpr size_t kNamesShown = 5;

std::string member_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
      return "choices";
    case Dialect::kOpenaiResponses:
      return "output";
    case Dialect::kOpenaiEmbeddings:
      return "data";
    case Dialect::kAnthropicMessages:
      return "content";
  }
  return {};
}

void judge_model(const Record& record, const Exchange& exchange, Findings& out) {
  if (record.model.empty()) {
    add(out, Code::kModelMissing);
    return;
  }
  std::string names;
  for (const std::string& name : nearest_names(record.model, record.models, kNamesShown)) {
    names += concat(names.empty() ? "" : ", ", name);
  }
  const bool listed = !names.empty();
  if (!listed) {
    names = record.models_answer.has_value() ? concat("GET ", record.models_answer->url) : "?";
  }
  Finding& made = add(out, Code::kModelUnknown, {record.model, names});
  made.evidence.push_back(words_of_error(exchange, exchange.reading.error));
  if (listed) {
    made.evidence.push_back(
        sentence({"number of models that it lists for this key: {0}", "它为此密钥列出 {0} 个模型"},
                 {std::to_string(record.models.size())}));
  } else if (record.models_answer.has_value()) {
    made.evidence.push_back(what_failed(*record.models_answer));
  }
}

void judge_rate_limit(const Exchange& exchange, Findings& out) {
  std::string wait(exchange.header("retry-after"));
  const std::string_view wait_ms = exchange.header("retry-after-ms");
  int64_t number = 0;
  if (parse_number(wait, number)) wait += " s";
  if (wait.empty() && !wait_ms.empty()) wait = concat(wait_ms, " ms");
  Finding& made =
      wait.empty() ? add(out, Code::kRateLimitedNoWait) : add(out, Code::kRateLimited, {wait});
  made.evidence.push_back(words_of_error(exchange, exchange.reading.error));
  for (const auto& [name, value] : exchange.headers) {
    if (name.find("ratelimit") == std::string::npos) continue;
    made.evidence.push_back(sentence({"{0}: {1}", "{0}: {1}"}, {name, value}));
  }
}

void judge_server_error(const Exchange& exchange, Findings& out) {
  const int status = exchange.status;
  const bool spoke = exchange.reading.error_shape != wire::ErrorShape::kNone;
  Code code = Code::kServerError;
  if (exchange.reading.error.code == "channel_credential") {
    code = Code::kChannelCredential;
  } else if (!spoke || status == 502 || status == 504 || (status >= 520 && status < 527)) {
    code = Code::kBadGateway;
  } else if (status == 503 || status == 529 || exchange.reading.error.type == "overloaded_error") {
    code = Code::kOverloaded;
  }
  Finding& made = add(out, code, {std::to_string(status)});
  made.evidence.push_back(words_of_error(exchange, exchange.reading.error));
  if (const std::string_view after = exchange.header("retry-after"); !after.empty()) {
    made.evidence.push_back(
        sentence({"retry-after: {0}", "retry-after: {0}"}, {std::string(after)}));
  }
}

void judge_refusal(const Record& record, const Exchange& exchange, Findings& out) {
  const Reading& reading = exchange.reading;
  const std::string status = std::to_string(exchange.status);
  if (exchange.status == 401 || exchange.status == 407 || found(out, Code::kQuotaExhausted)) return;
  const bool page = reading.kind == BodyKind::kHtml || reading.kind == BodyKind::kText;
  if (exchange.status == 403) {
    if (page || reading.kind == BodyKind::kEmpty) {
      add(out, Code::kBlockedByFilter, {status}).evidence.push_back(what_came(exchange));
    }
    return;
  }
  if (progress_of(exchange, record.model) < Progress::kAccepted) {
    // Wrong places are the URL's; what else is no API's refusal is a filter's.
    const bool explained = exchange.status == 404 || exchange.status == 405 ||
                           exchange.status == 410 || found(out, Code::kUrlTracking);
    if (!explained)
      add(out, Code::kBlockedByFilter, {status}).evidence.push_back(what_came(exchange));
    return;
  }
  if (exchange.status == 429) return judge_rate_limit(exchange, out);
  if (record.model.empty() || probe::is_about_model(reading.error, record.model)) {
    return judge_model(record, exchange, out);
  }
  add(out, Code::kRequestRefused, {status})
      .evidence.push_back(words_of_error(exchange, reading.error));
}

bool has_hidden_reasoning(const wire::Usage& usage, std::string_view finish_reason) {
  return usage.reasoning > 0 || finish_reason == "length" || finish_reason == "max_tokens" ||
         finish_reason == "max_output_tokens" || finish_reason == "incomplete";
}

void judge_object(const Exchange& exchange, Findings& out) {
  const Reading& reading = exchange.reading;
  const std::string member = member_name(exchange.dialect);
  if (reading.error_member) {
    add(out, Code::kErrorInOk).evidence.push_back(words_of_error(exchange, reading.error));
    return;
  }
  switch (reading.member) {
    case AnswerMember::kMissing:
    case AnswerMember::kOther:
      add(out, Code::kChoicesMissing, {member}).evidence.push_back(what_came(exchange));
      return;
    case AnswerMember::kNull:
      add(out, Code::kChoicesNull, {member}).evidence.push_back(what_came(exchange));
      return;
    case AnswerMember::kEmpty:
      // Reasoning that ate all tokens leaves an Anthropic or Responses answer without blocks.
      if (has_hidden_reasoning(reading.usage, reading.finish_reason)) return;
      add(out, Code::kChoicesEmpty, {member}).evidence.push_back(what_came(exchange));
      return;
    case AnswerMember::kFilled:
      break;
  }
  if (reading.output_bytes == 0 && !has_hidden_reasoning(reading.usage, reading.finish_reason)) {
    add(out, Code::kAnswerWithoutText).evidence.push_back(what_came(exchange));
  }
}

void judge_ok(const Exchange& exchange, Findings& out) {
  if (!exchange.decoded) {
    add(out, Code::kCodingUnknown, {exchange.coding});
    return;
  }
  switch (exchange.is_stream ? BodyKind::kEvents : exchange.reading.kind) {
    case BodyKind::kEmpty:
      add(out, Code::kEmptyInOk).evidence.push_back(what_came(exchange));
      return;
    case BodyKind::kHtml:
      if (!found(out, Code::kUrlHomePage) && !found(out, Code::kUrlTracking)) {
        add(out, Code::kHtmlInOk).evidence.push_back(what_came(exchange));
      }
      return;
    case BodyKind::kText:
    case BodyKind::kEvents:
      if (!found(out, Code::kUrlTracking)) {
        add(out, Code::kTextInOk).evidence.push_back(what_came(exchange));
      }
      return;
    case BodyKind::kJsonBroken:
    case BodyKind::kJsonOther:
      add(out, Code::kJsonBroken).evidence.push_back(what_came(exchange));
      return;
    case BodyKind::kJson:
      judge_object(exchange, out);
      return;
  }
}

// Where a middle layer says in a header how often it tried: the name, and what a first attempt has
// there.
struct AttemptHeader {
  std::string_view name;
  int64_t of_first;
};
constexpr AttemptHeader kAttemptHeaders[] = {
    {"x-litellm-attempted-retries", 0},
    {"x-litellm-attempted-fallbacks", 0},
    {"x-portkey-retry-attempt-count", 0},
    {"x-envoy-attempt-count", 1},
    {"x-retry-count", 0},
    {"x-attempts", 1},
};

// Attempts that `exchange` took by its headers; 1 where none tells. Evidence is added.
int64_t attempts_by_headers(const Exchange& exchange, std::vector<Sentence>& evidence) {
  int64_t attempts = 1;
  for (const AttemptHeader& header : kAttemptHeaders) {
    int64_t number = 0;
    const std::string_view value = exchange.header(header.name);
    if (!parse_number(trim(value), number) || number <= header.of_first) continue;
    attempts = std::max(attempts, number - header.of_first + 1);
    evidence.push_back(
        sentence({"{0}: {1}", "{0}: {1}"}, {std::string(header.name), std::string(value)}));
  }
  return attempts;
}

int64_t attempts_by_call(const probe::GatewayCall& call, std::vector<Sentence>& evidence) {
  for (size_t i = 0; i + 1 < call.attempts.size(); ++i) {
    const probe::GatewayCall::Attempt& attempt = call.attempts[i];
    evidence.push_back(sentence(
        {"attempt {0} on channel {1}: {2} {3} {4}", "第 {0} 次尝试，通道 {1}：{2} {3} {4}"},
        {std::to_string(i + 1), attempt.channel, attempt.outcome,
         attempt.status == 0 ? "" : std::to_string(attempt.status), attempt.error}));
  }
  return static_cast<int64_t>(call.attempts.size());
}

}  // namespace

void judge_answer(const Record& record, Findings& out) {
  const Exchange& exchange = record.plain();
  if (!exchange.complete()) return;
  const int status = exchange.status;
  if (exchange.through_proxy && found(out, Code::kProxyRefuses)) return;
  if (status >= 500) {
    if (progress_of(exchange, record.model) >= Progress::kAccepted)
      judge_server_error(exchange, out);
  } else if (status >= 400) {
    judge_refusal(record, exchange, out);
  } else if (status >= 200 && status < 300) {
    judge_ok(exchange, out);
  }
}

void judge_retries(const Record& record, Findings& out) {
  std::vector<Sentence> evidence;
  int64_t attempts = attempts_by_headers(record.plain(), evidence);
  if (record.stream.has_value()) {
    attempts = std::max(attempts, attempts_by_headers(*record.stream, evidence));
  }
  for (const probe::GatewayCall& call : record.gateway_calls) {
    attempts = std::max(attempts, attempts_by_call(call, evidence));
  }
  if (attempts <= 1) return;
  Finding& made = add(out, Code::kHiddenRetries, {std::to_string(attempts)});
  made.severity = Severity::kRemark;
  made.evidence = std::move(evidence);
}

}  // namespace hw::verify
