// Codex: config.toml and .env in its folder.
//
// Facts are those of version 0.171.0, seen on the wire and on its terminal: it speaks the responses
// wire only and refuses to start with wire_api = "chat" or with a `profile` in the file; .env in
// its folder is loaded on start and wins over the shell; a proxy variable catches loopback
// addresses, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/client.h"
#include "setup/examination.h"

namespace hw::setup {

// Codex looks for the key in a variable that its configuration names.
inline constexpr std::string_view kCodexKeyVariable = "HEADWAY_API_KEY";

// $CODEX_HOME/config.toml, else ~/.codex/config.toml; and .env beside it.
std::string codex_config_path(const Surroundings& where);
std::string codex_env_path(const Surroundings& where);
// The configuration with what `order` says merged in; retries and time-outs that are set stay.
// kConfig where the text is no TOML or cannot be changed without touching anything else.
Result<std::string> merge_codex_config(std::string_view text, const Order& order);
// .env with the key.
Result<std::string> merge_codex_env(std::string_view text, const Order& order);

// What an examination reads: configuration, .env, login.
std::vector<std::string> codex_paths(const Surroundings& where);
// `files` are those of codex_paths(), in that order.
void examine_codex(Examination& e, std::span<const settings::FileText> files,
                   const Surroundings& where);

}  // namespace hw::setup
