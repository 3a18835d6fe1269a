#include "translate/request_reader.h"

namespace hw::translate {

Status read_responses_request(json::Object, Request&) {
  return {};
}

}  // namespace hw::translate
