#include "neutral/data_url.h"

namespace hw::translate {

bool read_data_url(const Text& url, Media& out) {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kBase64 = ";base64";
  const std::string_view bytes = url.bytes();
  if (!url.present() || !bytes.starts_with(kScheme)) return false;
  const size_t comma = bytes.find(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view head = bytes.substr(0, comma);
  if (!head.ends_with(kBase64)) return false;
  const size_t type_end = head.find(';');
  out.kind = Media::Kind::kBase64;
  out.media_type = Text();
  if (type_end > kScheme.size())
    out.media_type = url.slice(kScheme.size(), type_end - kScheme.size());
  out.data = url.slice(comma + 1);
  return true;
}

void append_data_url(std::string& out, const Media& media, std::string_view otherwise) {
  out += "\"data:";
  if (media.media_type.empty()) {
    out += otherwise;
  } else {
    media.media_type.append_escaped(out);
  }
  out += ";base64,";
  media.data.append_escaped(out);
  out += '"';
}

}  // namespace hw::translate
