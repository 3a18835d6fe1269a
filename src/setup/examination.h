// Examination: what a client will really use, setting by setting with its place, and what is wrong
// with that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/file_text.h"
#include "setup/client.h"
#include "setup/finding.h"
#include "setup/triple_check.h"

namespace hw::setup {

// How a line that sets something is written.
enum class LineForm : uint8_t { kJson, kToml, kShell, kDotenv };

// A setting that counts.
struct Setting {
  std::string name;   // "ANTHROPIC_BASE_URL", "base_url"
  std::string value;  // empty: not set
  Place place;
  LineForm form = LineForm::kShell;

  // Whether it is not set.
  bool empty() const { return value.empty(); }
  // The line that would set it to `value`; of what holds a secret give a placeholder.
  std::string line(std::string_view value) const;
  // How to take it away: "unset NAME", or the line with a minus before it.
  std::string removal() const;
};

// One examination, built by examine() of the client.
struct Examination {
  Client client = Client::kClaudeCode;
  Access expected;  // the gateway asked about; any part may be unknown
  UrlForm url_form = UrlForm::kRoot;
  Setting base_url, key;
  bool key_elsewhere = false;  // without a key of its own: a program or a login gives one
  std::vector<Setting> models;
  std::vector<Finding> findings;

  // Adds a finding with its usual severity.
  void add(Code code, Place place, std::vector<std::string> arguments, std::string change);
  // Whether something is wrong or a risk.
  bool failed() const;
};

// The command that puts the set-up right.
std::string write_command(Client client);

// Judges what every client has: base URL, key and models of `e`. Precondition: these are filled in.
void judge_triple(Examination& e);
// Whether a proxy would catch requests to the base URL of `e`.
void judge_proxy(Examination& e, const config::Environment& environment);
// A time-out in milliseconds that is set and below 60 s.
void judge_timeout(Examination& e, const Setting& setting);
// More requests for one than the client's user would believe.
void judge_retries(Examination& e, const Setting& setting, int64_t requests,
                   std::string_view better);
// A file with a key in it that others may read.
void judge_mode(Examination& e, const settings::FileText& file);

// What a gateway said when it was asked with the settings of an examination.
struct ProbeAnswer {
  int status = 0;                    // of GET /v1/models; 0: no answer
  std::string reason;                // why there was none
  std::vector<std::string> names;    // models that it lists
  std::vector<std::string> refused;  // of the models asked for by name
};
// Adds what follows from it.
void judge_answer(Examination& e, const ProbeAnswer& answer);

}  // namespace hw::setup
