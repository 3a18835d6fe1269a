// What is written about options for people: the reference page, --help-options, the sample file.
// All of it comes from the tables, so that it cannot be out of date.
#pragma once

#include <string>

#include "config/option.h"

namespace hw::app {

// docs/configuration.md, English.
std::string reference_page();

// The options of one file, each with its default, meaning, variable and flag; at most 100 columns
// but for long names.
std::string options_help(const config::OptionTable& table, config::Language language);

// A file with every option at its default and a comment; options without a default are commented
// out. It is valid as it stands.
std::string sample_file(const config::OptionTable& table, config::Language language);

}  // namespace hw::app
