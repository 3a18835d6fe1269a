#include "setup/examination.h"

#include <algorithm>

#include "base/text.h"
#include "config/option.h"
#include "json/writer.h"
#include "settings/shell.h"

namespace hw::setup {

using namespace settings;
namespace {

constexpr int64_t kTimeoutMsLeast = 60'000;
constexpr int64_t kRequestsMost = 10;

// The key of a printed line is nobody's.
std::string key_change(const Examination& e) {
  if (e.key.form == LineForm::kShell) return e.key.line(kUnknownKey);
  return write_command(e.client);
}

void judge_url(Examination& e) {
  const Setting& setting = e.base_url;
  const UrlJudgement judged = judge_base_url(setting.value, e.url_form, setting.name);
  std::string wanted = judged.corrected;
  if (wanted.empty() && !e.expected.root.empty()) {
    wanted = e.url_form == UrlForm::kRoot ? e.expected.root : openai_base_url(e.expected.root);
  }
  const std::string change = wanted.empty() ? write_command(e.client) : setting.line(wanted);
  for (const Mistake& mistake : judged.mistakes) {
    e.add(mistake.code, setting.place, mistake.arguments, change);
  }
  const std::string root = root_of(setting.value);
  if (!root.empty() && !e.expected.root.empty() && root != e.expected.root) {
    const std::string other =
        e.url_form == UrlForm::kRoot ? e.expected.root : openai_base_url(e.expected.root);
    e.add(Code::kOtherGateway, setting.place, {root, e.expected.root}, setting.line(other));
  }
}

}  // namespace

std::string Setting::line(std::string_view to) const {
  std::string out;
  switch (form) {
    case LineForm::kJson:
      json::append_quoted(out, name);
      out += ": ";
      json::append_quoted(out, to);
      return out;
    case LineForm::kToml:
      return concat(name, " = ", config::toml_quoted(to));
    case LineForm::kShell:
      return concat("export ", name, "=", shell_quoted(to));
    case LineForm::kDotenv:
      return concat(name, "=", shell_quoted(to));
  }
  return out;
}

std::string Setting::removal() const {
  if (form == LineForm::kShell) return concat("unset ", name);
  return concat("- ", name);
}

void Examination::add(Code code, Place place, std::vector<std::string> arguments,
                      std::string change) {
  findings.push_back(make_finding(code, std::move(place), std::move(arguments), std::move(change)));
}

bool Examination::failed() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity != Severity::kNote; });
}

std::string write_command(Client client) {
  return concat("headway config ", client_name(client), " --write");
}

void judge_triple(Examination& e) {
  judge_url(e);
  const auto mistake = judge_key(e.key.value, e.expected.api_key, e.key.name);
  if (mistake.has_value() && !(e.key.empty() && e.key_elsewhere)) {
    e.add(mistake->code, e.key.place, mistake->arguments, key_change(e));
  }
  for (const Setting& model : e.models) {
    if (!model.empty()) continue;
    const std::string_view wanted =
        e.expected.model.empty() ? kUnknownModel : std::string_view(e.expected.model);
    e.add(Code::kModelMissing, model.place, {model.name}, model.line(wanted));
  }
}

void judge_proxy(Examination& e, const config::Environment& environment) {
  const std::string variable = proxy_variable(e.base_url.value, environment);
  if (variable.empty()) return;
  const std::string host = host_of(e.base_url.value);
  e.add(Code::kProxyCatches, {"environment", 0}, {variable, host},
        no_proxy_line(host, environment));
  // Another machine cannot reach our loopback for us.
  if (is_loopback(host)) e.findings.back().severity = Severity::kWrong;
}

void judge_timeout(Examination& e, const Setting& setting) {
  int64_t ms = 0;
  if (!parse_number(std::string_view(setting.value), ms) || ms >= kTimeoutMsLeast) return;
  constexpr std::string_view kEnough = "600000";
  const bool bare = setting.form == LineForm::kToml;
  e.add(Code::kTimeoutShort, setting.place, {setting.name, setting.value},
        bare ? concat(setting.name, " = ", kEnough) : setting.line(kEnough));
}

void judge_retries(Examination& e, const Setting& setting, int64_t requests,
                   std::string_view better) {
  if (requests <= kRequestsMost) return;
  const bool bare = setting.form == LineForm::kToml;
  e.add(Code::kRetriesHide, setting.place, {setting.name, std::to_string(requests)},
        bare ? concat(setting.name, " = ", better) : setting.line(better));
}

void judge_mode(Examination& e, const FileText& file) {
  if (!file.there || (file.mode & 077) == 0) return;
  std::string octal;
  for (int shift = 6; shift >= 0; shift -= 3) {
    octal += static_cast<char>('0' + ((file.mode >> shift) & 7));
  }
  e.add(Code::kFileOpen, {file.path, 0}, {octal}, concat("chmod 600 ", shell_quoted(file.path)));
}

void judge_answer(Examination& e, const ProbeAnswer& answer) {
  const Place& place = e.base_url.place;
  const std::string root = root_of(e.base_url.value);
  if (answer.status == 0) {
    e.add(Code::kGatewayUnreachable, place, {root, answer.reason}, "headway verify");
    return;
  }
  if (answer.status == 401 || answer.status == 403) {
    e.add(Code::kKeyRefused, e.key.place, {e.key.name, std::to_string(answer.status)},
          key_change(e));
    return;
  }
  if (answer.status != 200) {
    e.add(Code::kUnexpectedAnswer, place, {root, std::to_string(answer.status)}, "headway verify");
    return;
  }
  for (const Setting& model : e.models) {
    const bool refused = std::find(answer.refused.begin(), answer.refused.end(), model.value) !=
                         answer.refused.end();
    if (!refused) continue;
    const std::string near = nearest_names(model.value, answer.names);
    const std::string first =
        near == "-" ? std::string(kUnknownModel) : near.substr(0, near.find(", "));
    e.add(Code::kModelRefused, model.place, {model.value, near}, model.line(first));
  }
}

}  // namespace hw::setup
