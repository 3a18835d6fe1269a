// The decoders: the same text and verdict whatever the body is cut into, and never more than the
// limit.
#include "http/coding.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"

namespace hw::http {
namespace {

constexpr size_t kOutBytesMax = 64 * 1024;
constexpr std::array<std::string_view, 8> kCodings = {
    "gzip", "deflate", "br", "zstd", "gzip, gzip", "zstd, gzip", "br, zstd", "identity"};

struct Decoded {
  std::string text;
  bool fine = false;
};

Decoded decode(std::string_view coding, std::string_view bytes, size_t step) {
  Result<Decoder> decoder = Decoder::make(coding);
  HW_ASSERT(decoder.has_value());
  Decoded out;
  while (!bytes.empty()) {
    const std::vector<char> piece(bytes.begin(), bytes.begin() + std::min(step, bytes.size()));
    bytes.remove_prefix(piece.size());
    const Status status = decoder->decode({piece.data(), piece.size()}, out.text, kOutBytesMax);
    HW_ASSERT(out.text.size() <= kOutBytesMax + 1);
    if (!status) return out;
  }
  out.fine = decoder->finish().has_value();
  return out;
}

}  // namespace
}  // namespace hw::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  using namespace hw::http;
  const std::string_view coding = kCodings[data[0] % kCodings.size()];
  const size_t step = 1 + data[1];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const Decoded whole = decode(coding, bytes, size);
  const Decoded pieces = decode(coding, bytes, step);
  HW_ASSERT(whole.fine == pieces.fine);
  if (whole.fine) HW_ASSERT(whole.text == pieces.text);
  return 0;
}
