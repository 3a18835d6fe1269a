// The reference of all codes, as it stands in docs/verify.md.
#pragma once

#include <string>

#include "config/language.h"

namespace hw::verify {

// A Markdown table of every code: its step, whose matter it is, what is wrong, what it is not.
std::string code_reference(config::Language language);

}  // namespace hw::verify
