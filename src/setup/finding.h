// Finding: something in a client's settings that will not work, or not as meant, with its place and
// the line to change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/language.h"

namespace hw::setup {

// How bad it is.
enum class Severity : uint8_t {
  kWrong,  // the client will not reach the gateway, or not be let in
  kRisk,   // works by luck, or here only
  kNote,   // good to know
};
std::string_view severity_name(Severity severity);

// Each kind of finding; its name is stable, its texts stand in finding.cc. What the arguments are:
enum class Code : uint8_t {
  kNotConfigured,        // {0} client, {1} where it goes instead
  kFileBroken,           // {0} reason
  kFileOpen,             // {0} mode
  kEntryBroken,          // {0} entry, {1} what it lacks
  kOtherGateway,         // {0} where it goes, {1} the gateway asked about
  kBaseUrlBroken,        // {0} URL
  kBaseUrlBlank,         // {0} name of the setting
  kBaseUrlQuery,         // {0} the parameters
  kBaseUrlEndpoint,      // {0} the endpoint
  kBaseUrlDoubled,       // {0} URL
  kBaseUrlV1Extra,       // {0} URL
  kBaseUrlV1Missing,     // {0} URL
  kBaseUrlPage,          // {0} the page
  kKeyMissing,           // {0} name of the setting
  kKeyBlank,             // {0} name of the setting
  kKeyQuoted,            // {0} name of the setting
  kKeyBearer,            // {0} name of the setting
  kKeyPlaceholder,       // {0} name of the setting
  kKeyLetters,           // {0} name of the setting
  kKeyCut,               // {0} name of the setting, {1} characters, {2} characters of the whole
  kKeyRefused,           // {0} name of the setting, {1} status
  kCredentialsBoth,      // {0} the one that wins, {1} the other
  kLoginAndKey,          // {0} the setting that wins over the login
  kLoginSent,            // {0} where the login's token goes
  kHeaderCredential,     // {0} the setting, {1} the header
  kOtherProvider,        // {0} what makes the client go elsewhere
  kProviderUnknown,      // {0} the provider
  kProviderNotSelected,  // {0} the provider in use, {1} the one that leads to the gateway
  kProviderFixed,        // {0} the provider
  kWireChat,             // {0} the wire
  kProfileRefused,       // {0} the profile
  kOverridden,           // {0} the setting, {1} where the value that counts stands
  kOldVariable,          // {0} the old name, {1} the current one
  kProxyCatches,         // {0} the variable, {1} the gateway's host
  kTimeoutShort,         // {0} the setting, {1} its value in ms
  kRetriesHide,          // {0} the setting, {1} how often a request may be sent
  kModelMissing,         // {0} the setting
  kModelRefused,         // {0} the model, {1} names that there are
  kGatewayUnreachable,   // {0} URL, {1} reason
  kUnexpectedAnswer,     // {0} URL, {1} status
};
inline constexpr int kCodeCount = static_cast<int>(Code::kUnexpectedAnswer) + 1;

// "base_url_query" and so on.
std::string_view code_name(Code code);
// What it is, its placeholders open.
config::Words code_words(Code code);
// How bad it is unless a finding says otherwise.
Severity usual_severity(Code code);

// Where something stands.
struct Place {
  std::string source;  // a file's path, or "environment"
  int line = 0;        // of a file; 0: the file as a whole, or no file
};

// One finding. No text of it holds a secret.
struct Finding {
  Code code = Code::kNotConfigured;
  Severity severity = Severity::kWrong;
  Place place;
  std::vector<std::string> arguments;
  std::string change;  // the line to put in its place, or the command to run; empty: none
};

// With the usual severity.
Finding make_finding(Code code, Place place, std::vector<std::string> arguments,
                     std::string change);
// What is wrong, as a sentence.
std::string describe(const Finding& finding, config::Language language);

}  // namespace hw::setup
