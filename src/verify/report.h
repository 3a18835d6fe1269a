// A verdict written down: for people, and as JSON. Pure. The key is in neither.
#pragma once

#include <string>
#include <vector>

#include "config/language.h"
#include "json/writer.h"
#include "probe/record.h"
#include "terminal/output.h"
#include "verify/verdict.h"

namespace hw::verify {

// The list of steps with marks, then each finding, then the conclusion. At most 100 columns but for
// words that are longer; what comes from outside is made printable.
std::string verdict_text(const Verdict& verdict, config::Language language,
                         terminal::Colour colour);

// Fields of the open object: conclusion, base_url, endpoint, dialect, model, key, steps, findings,
// exchanges, gateway_calls. Texts are in `language`, codes are stable.
void write_verdict(json::Writer& writer, const probe::Record& record, const Verdict& verdict,
                   config::Language language);

}  // namespace hw::verify
