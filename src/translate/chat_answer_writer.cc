#include "translate/answer_writer.h"

namespace hw::translate {

std::unique_ptr<StreamWriter> make_chat_stream_writer(const Reply&, Fidelity&) {
  return nullptr;
}

void write_chat_answer(const Events&, const Reply&, Fidelity&, std::string&) {}

}  // namespace hw::translate
