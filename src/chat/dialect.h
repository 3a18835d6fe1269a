// The dialect of chat completions: its readers and writers around the neutral form. See translate
// for how they are put together.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "json/scan.h"
#include "neutral/event.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"
#include "neutral/stream_reader.h"
#include "neutral/stream_writer.h"
#include "neutral/target.h"

namespace hw::translate {

// Reads the body of a request, all of which is valid JSON; see read_request().
Status read_chat_request(json::Object root, Request& out);
// Appends the body of a request; see write_request().
void write_chat_request(const Request& request, const Target& target, Fidelity& fidelity,
                        std::string& out);

// Reads an upstream's answer: a stream, or a whole one (see read_answer()).
std::unique_ptr<StreamReader> make_chat_stream_reader();
Status read_chat_answer(json::Object root, Events& out);  // kUpstreamDialect where it is none

// Writes a client's answer: a stream, or a whole one. What is given outlives the writer.
std::unique_ptr<StreamWriter> make_chat_stream_writer(const Reply& reply, Fidelity& fidelity);
void write_chat_answer(const Events& events, const Reply& reply, Fidelity& fidelity,
                       std::string& out);  // appends; see write_answer()

}  // namespace hw::translate
