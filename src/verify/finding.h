// Finding: one thing that is wrong with an access, by a stable code, with whose fault it is, what
// shows it, what to change, and what it is not. All texts in two languages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "config/language.h"

namespace hw::verify {

// The steps of an access, in the order in which they happen.
enum class Step : uint8_t {
  kUrl,
  kProxy,
  kDns,
  kTcp,
  kTls,
  kHttp,
  kJson,
  kCredential,
  kModel,
  kAnswer,
  kStream,
  kFirstToken,
  kFlow,
  kEnd,
};
inline constexpr int kStepCount = static_cast<int>(Step::kEnd) + 1;
// "url", "first_token"; stable.
std::string_view step_name(Step step);
// For people.
std::string_view step_label(config::Language language, Step step);

// Who has to act.
enum class Blame : uint8_t {
  kCommand,  // what was typed, or its environment
  kKey,
  kNetwork,   // between here and the endpoint
  kGateway,   // the gateway or another layer in the middle
  kUpstream,  // the model server or its provider
};
// "command", "key", "network", "gateway", "upstream"; stable.
std::string_view blame_name(Blame blame);
std::string_view blame_label(config::Language language, Blame blame);

// Every finding there is; the word of finding_name() is stable.
enum class Code : uint8_t {
  // The base URL. Arguments of those with one: the URL that works.
  kUrlInvalid,
  kUrlUser,
  kUrlTracking,
  kUrlEndpoint,
  kUrlDoubledV1,
  kUrlMissingV1,
  kUrlExtraV1,
  kUrlHomePage,
  kUrlWrongPath,
  kUrlRedirects,
  kUrlScheme,
  kWrongDialect,
  // The key.
  kKeyMissing,
  kKeyLineBreak,
  kKeyBlank,
  kKeyNotAscii,
  kKeyQuoted,
  kKeyScheme,
  kKeyPlaceholder,
  kKeyIncomplete,
  kKeyAdminToken,
  kKeyHeaderForm,
  kKeyRefused,
  kKeyForbidden,
  kQuotaExhausted,
  // Proxies.
  kProxyUnreachable,
  kProxyRefuses,
  kProxyInvalid,
  kProxyUnsupported,
  kProxyCatchesLocal,
  // The network.
  kDnsUnknownName,
  kDnsUnavailable,
  kDnsSlow,
  kTcpRefused,
  kTcpTimeout,
  kTcpUnreachable,
  kTcpSlow,
  kTlsNameMismatch,
  kTlsExpired,
  kTlsNotYetValid,
  kTlsSelfSigned,
  kTlsUnknownIssuer,
  kTlsNotSpoken,
  kTlsFailed,
  // HTTP.
  kConnectionClosed,
  kNotHttp,
  kAnswerCut,
  kAnswerTooLarge,
  kTimeoutFirstByte,
  kTimeoutBody,
  kBlockedByFilter,
  kRequestRefused,
  kRateLimited,
  kRateLimitedNoWait,
  kOverloaded,
  kServerError,
  kBadGateway,
  kChannelCredential,
  // The model.
  kModelMissing,
  kModelUnknown,
  // The answer.
  kHtmlInOk,
  kTextInOk,
  kEmptyInOk,
  kJsonBroken,
  kErrorInOk,
  kChoicesMissing,
  kChoicesNull,
  kChoicesEmpty,
  kAnswerWithoutText,
  kCodingUnknown,
  // The stream.
  kStreamRefused,
  kStreamNotStreamed,
  kStreamContentType,
  kStreamEncoded,
  kStreamErrorEvent,
  kStreamBrokenEvents,
  kStreamWithoutTokens,
  kStreamCut,
  kStreamNoEnd,
  kStreamStalled,
  kStreamTimeoutFirst,
  kStreamOneClump,
  kStreamClumps,
  kHiddenRetries,
};
inline constexpr int kCodeCount = static_cast<int>(Code::kHiddenRetries) + 1;

// How bad it is.
enum class Severity : uint8_t {
  kFailure,  // requests fail, or measurements through it mean nothing
  kRemark,   // requests succeed, and should be looked at
};
// "failure", "remark"; stable.
std::string_view severity_name(Severity severity);

// A sentence in both languages; `{0}` and so on stand for its arguments.
struct Sentence {
  config::Words words;
  std::vector<std::string> arguments;
  std::string in(config::Language language) const;
};
// Makes one.
Sentence sentence(config::Words words, std::initializer_list<std::string> arguments = {});

// What is fixed about a code.
struct CodeInfo {
  Code code;
  std::string_view name;
  Step step;
  Blame blame;
  config::Words title;   // what is wrong
  config::Words change;  // what to do
  config::Words not_it;  // what it looks like and is not
};
// The row of a code. Never fails.
const CodeInfo& code_info(Code code);
// All rows in their order.
const CodeInfo* all_codes();

// One find in one record.
struct Finding {
  Code code;
  Severity severity = Severity::kFailure;
  std::vector<std::string> arguments;  // of the row's three texts
  std::vector<Sentence> evidence;

  // The row of its code.
  const CodeInfo& info() const { return code_info(code); }
  // The row's texts with the arguments in them.
  std::string title(config::Language language) const;
  std::string change(config::Language language) const;
  std::string not_it(config::Language language) const;
};

}  // namespace hw::verify
