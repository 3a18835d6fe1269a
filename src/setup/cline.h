// Cline: providers.json in its folder.
//
// Facts are those of version 3.0.65, seen on the wire: every provider takes a base URL with /v1;
// the provider used last is the one in use; an entry that lacks a field makes it ignore the whole
// file; it writes the file anew itself and keeps the order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "setup/client.h"
#include "setup/examination.h"

namespace hw::setup {

// $CLINE_PROVIDER_SETTINGS_PATH, else settings/providers.json below $CLINE_DATA_DIR,
// $CLINE_DIR/data or ~/.cline/data.
std::string cline_providers_path(const Surroundings& where);
// The provider for a dialect: "openai-compatible" (chat), "openai-native" (responses), "anthropic".
std::string_view cline_provider(const Order& order);
// The file with what `order` says merged in. kConfig where the text is no JSON object.
Result<std::string> merge_cline_providers(std::string_view text, const Order& order);

// What an examination reads.
std::vector<std::string> cline_paths(const Surroundings& where);
// `files` are those of cline_paths(), in that order.
void examine_cline(Examination& e, std::span<const settings::FileText> files,
                   const Surroundings& where);

}  // namespace hw::setup
