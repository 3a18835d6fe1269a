#include "translate/request_writer.h"

namespace hw::translate {

void write_chat_request(const Request&, const Target&, Fidelity&, std::string&) {}

}  // namespace hw::translate
