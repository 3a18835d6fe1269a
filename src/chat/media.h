// Writes images, documents and sounds as parts of a content of chat.
#pragma once

#include <string>

#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Whether `part` is a document whose text is known.
bool is_text_document(const Part& part);

// Appends such a document as the text that it becomes, escaped: its title in front.
void append_text_document(std::string& out, const Part& part);

// Appends the part, a JSON object. False where chat cannot say it; what was appended by then is of
// no use.
bool append_chat_media(std::string& out, const Part& part, Fidelity& fidelity);

}  // namespace hw::translate
