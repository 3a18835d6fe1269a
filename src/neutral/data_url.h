// Data URLs: media inside a URL, "data:image/png;base64,AAAA" (RFC 2397), as OpenAI's dialects
// carry images and files.
#pragma once

#include <string>

#include "neutral/request.h"

namespace hw::translate {

// Takes a data URL in base64 apart: media_type (absent where it names none) and data. False, with
// `out` as it was, for every other URL.
bool read_data_url(const Text& url, Media& out);

// Appends base64 media as a JSON string that is a data URL; `otherwise` stands for a media type
// that is absent.
void append_data_url(std::string& out, const Media& media, std::string_view otherwise);

}  // namespace hw::translate
