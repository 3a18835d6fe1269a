// The rules of the access check: from a record to findings. Pure functions, one file for each part
// of the way; each adds what it finds and reads nothing but the record and what was found before.
#pragma once

#include <string>
#include <vector>

#include "probe/record.h"
#include "verify/finding.h"

namespace hw::verify {

// What is found so far.
using Findings = std::vector<Finding>;

// All rules in order. Empty where nothing is wrong.
Findings judge(const probe::Record& record);

// The parts of judge(), in its order. What was typed: base URL, key, proxies of the environment.
void judge_url(const probe::Record& record, Findings& out);
void judge_key(const probe::Record& record, Findings& out);
void judge_proxy(const probe::Record& record, Findings& out);
// The way there: names, TCP and TLS; then whether HTTP came back whole.
void judge_connection(const probe::Record& record, Findings& out);
void judge_http(const probe::Record& record, Findings& out);
// What the answer says, and the one that is streamed.
void judge_answer(const probe::Record& record, Findings& out);
void judge_stream(const probe::Record& record, Findings& out);
// Attempts that a middle layer made and hid.
void judge_retries(const probe::Record& record, Findings& out);

// Whether `code` was found.
bool found(const Findings& findings, Code code);
// Adds a finding and gives it for its evidence to be filled in.
Finding& add(Findings& out, Code code, std::vector<std::string> arguments = {});

// "1234", whole milliseconds, and "1.2", seconds.
std::string whole_ms(Nanos ns);
std::string seconds(Nanos ns);
// What came back in one sentence: status, server, kind of body and its beginning.
Sentence what_came(const probe::Exchange& exchange);
// The error's own words, where there are some; else what_came().
Sentence words_of_error(const probe::Exchange& exchange, const wire::ErrorWords& words);
// Why the exchange failed, in one sentence.
Sentence what_failed(const probe::Exchange& exchange);

}  // namespace hw::verify
