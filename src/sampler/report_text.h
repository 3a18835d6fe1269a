// What a run is told as on a terminal, in both languages: a line for each request while it runs,
// and the report at its end.
#pragma once

#include <string>

#include "config/language.h"
#include "sampler/session.h"
#include "terminal/output.h"

namespace hw::sampler {

// "  12/50 short  ok  TTFT 123.4 ms  TPOT 20.1 ms  total 2.35 s  113 tokens"; no line end. `total`
// 0: unknown.
std::string request_line(const runs::Record& record, size_t number, size_t total,
                         config::Language language);

// The whole report: tables by bucket, errors, the judgement with its reasons, how well the plan was
// kept, what a reader must know, and vLLM's block.
std::string report_text(const SessionResult& result, config::Language language,
                        terminal::Colour colour);

}  // namespace hw::sampler
