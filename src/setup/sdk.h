// What has no file of its own: variables of the SDKs, a curl line, the triple.
#pragma once

#include <string>
#include <vector>

#include "settings/shell.h"
#include "setup/client.h"
#include "setup/examination.h"

namespace hw::setup {

// The variables of kOpenai, kAnthropic or kEnv; for Codex the one with its key. Others have none.
std::vector<settings::Variable> variables_of(Client client, const Order& order);
// A few lines of Python that use them, as comments for a shell; kOpenai and kAnthropic only.
std::string python_lines(Client client, const Order& order);
// One streamed request in the order's dialect, chat by default, for a POSIX shell.
std::string curl_command(const Order& order);
// `name = value`, a line each: base_url, openai_base_url, api_key, model_id.
std::string triple_lines(const Order& order);

// Looks at the variables that are set for kOpenai, kAnthropic, kCurl, kEnv and kTriple.
void examine_variables(Examination& e, const Surroundings& where);

}  // namespace hw::setup
