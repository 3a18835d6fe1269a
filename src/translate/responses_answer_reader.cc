#include "translate/answer_reader.h"

namespace hw::translate {

std::unique_ptr<StreamReader> make_responses_stream_reader() {
  return nullptr;
}

Status read_responses_answer(json::Object, Events&) {
  return {};
}

}  // namespace hw::translate
