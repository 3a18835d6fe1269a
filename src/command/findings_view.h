// What is wrong with a client's settings, for people and for programs.
#pragma once

#include <string>

#include "config/language.h"
#include "json/writer.h"
#include "setup/examination.h"

namespace hw::cli {

// A finding on a few lines of at most 100 columns: severity, code, place; the sentence; the line to
// change, which is as long as it is. With a line end.
std::string finding_lines(const setup::Finding& finding, config::Language language);

// The field "findings" of an object that is open: an array of {code, severity, source, line,
// message, change}; line is null where there is none.
void write_findings(json::Writer& writer, const setup::Examination& examination,
                    config::Language language);

}  // namespace hw::cli
