// Writers of answers: events become the answer that a client of one of the three dialects expects,
// as a stream or whole.
#pragma once

#include <memory>
#include <string>

#include "base/dialect.h"
#include "neutral/event.h"
#include "neutral/fidelity.h"
#include "neutral/stream_writer.h"

namespace hw::translate {

// `dialect` is the client's: kOpenaiChat, kOpenaiResponses or kAnthropicMessages. `fidelity` takes
// what the client's dialect cannot say of the answer.
std::unique_ptr<StreamWriter> make_stream_writer(Dialect dialect, const Reply& reply,
                                                 Fidelity& fidelity);

// Appends the whole answer.
void write_answer(Dialect dialect, const Events& events, const Reply& reply, Fidelity& fidelity,
                  std::string& out);

}  // namespace hw::translate
