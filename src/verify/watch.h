// What `headway verify` says around its verdicts: the lines of a watch, the gateway's own record.
// Pure.
#pragma once

#include <string>

#include "config/language.h"
#include "probe/record.h"
#include "verify/verdict.h"

namespace hw::verify {

// One round of a watch in one line, without its end: time (UTC), conclusion, first token, total,
// codes.
std::string watch_line(const probe::Record& record, const Verdict& verdict, Nanos wall,
                       config::Language language);

// The codes of all findings, joined by commas; what decides whether a round is news.
std::string codes_of(const Verdict& verdict);

// A heading, one line without its end, for the gateway's own record of `call`, or the reason why
// there is none.
std::string call_heading(const probe::GatewayCall& call, config::Language language);

// "Nothing names an endpoint": what to give.
std::string nothing_to_check(config::Language language);

}  // namespace hw::verify
