// Claude Code: settings.json in its folder, and those of a project, which win over it.
//
// Facts are those of version 2.1.332, seen on the wire: variables of a settings file win over the
// shell's; settings of a project win over the user's; the token is sent as Authorization and the
// API key as x-api-key, both where both are set; a login is used where neither is; a proxy variable
// catches loopback addresses, too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/client.h"
#include "setup/examination.h"

namespace hw::setup {

// The user's own settings: $CLAUDE_CONFIG_DIR/settings.json, else ~/.claude/settings.json.
std::string claude_code_settings_path(const Surroundings& where);
// The settings with what `order` says merged in. A time-out that is set stays, permissions are only
// added. kConfig where the text is not what Claude Code could read.
Result<std::string> merge_claude_code_settings(std::string_view text, const Order& order);

// What an examination reads, the strongest first; the login last.
std::vector<std::string> claude_code_paths(const Surroundings& where);
// `files` are those of claude_code_paths(), in that order.
void examine_claude_code(Examination& e, std::span<const settings::FileText> files,
                         const Surroundings& where);

}  // namespace hw::setup
