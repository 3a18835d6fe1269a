#include "translate/answer_reader.h"

namespace hw::translate {

std::unique_ptr<StreamReader> make_chat_stream_reader() {
  return nullptr;
}

Status read_chat_answer(json::Object, Events&) {
  return {};
}

}  // namespace hw::translate
