// Reads what a response has put out, item by item: for whole answers, and for streams of servers
// that tell an item only when it is complete.
#pragma once

#include <cstdint>

#include "json/scan.h"
#include "neutral/event.h"

namespace hw::translate {

// The blocks of an answer so far.
struct OutputSoFar {
  uint32_t next_block = 0;
  bool tool_called = false;
};

// Appends the beginning of a call of a tool; false, and nothing, where `item` is none or has no
// name. `so_far` counts it.
bool begin_responses_call(json::Object item, OutputSoFar& so_far, Events& out);

// Appends the proof of a reasoning item's thinking, if it has one.
void read_responses_proof(json::Object item, uint32_t block, Events& out);

// Appends the blocks of a complete output item, begun and ended.
void read_responses_item(const json::Value& item, OutputSoFar& so_far, Events& out);

// Appends how a response ended: Finished and Used, or Failed. All blocks have ended.
void read_responses_end(json::Object response, const OutputSoFar& so_far, Events& out);

// Gives the words of a failure the type that other dialects know it by: responses has a code only.
void name_responses_error(wire::ErrorWords& words);

// Appends each annotation, and the log-probabilities, if there are any.
void read_responses_annotations(json::Array annotations, uint32_t block, Events& out);
void read_responses_logprobs(const json::Value& logprobs, uint32_t block, Events& out);

// The word that `value` is, kept where it has escapes; empty where it is no string.
std::string_view responses_word(Events& out, const json::Value& value);

}  // namespace hw::translate
