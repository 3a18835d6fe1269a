// Images and documents as content blocks of messages.
#pragma once

#include <string>

#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Appends the block of an image or a document, as the user's turns and results of tools hold them.
// False where it cannot be said: then nothing is appended, and the account knows.
bool append_messages_media(std::string& out, const Part& part, Fidelity& fidelity);

}  // namespace hw::translate
