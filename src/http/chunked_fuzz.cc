// The chunked decoder: the same payload, end and verdict whatever the body is cut into, and what
// the encoder makes of the payload decodes to it.
#include "http/chunked.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"

namespace hw::http {
namespace {

struct Decoded {
  std::string payload;
  std::string trailers;
  size_t consumed = 0;
  bool done = false;
  bool failed = false;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view bytes, size_t step) {
  ChunkDecoder decoder(ErrorCode::kBadRequest);
  Decoded out;
  while (!bytes.empty() && !decoder.done()) {
    const std::vector<char> piece(bytes.begin(), bytes.begin() + std::min(step, bytes.size()));
    std::string_view rest(piece.data(), piece.size());
    while (!rest.empty() && !decoder.done()) {
      const Result<ChunkStep> taken = decoder.step(rest);
      if (!taken) {
        out.failed = true;
        out.consumed = 0;  // how much was looked at before the fault is nobody's business
        return out;
      }
      HW_ASSERT(taken->consumed > 0 && taken->consumed <= rest.size());
      out.payload += taken->payload;
      out.consumed += taken->consumed;
      rest.remove_prefix(taken->consumed);
    }
    bytes.remove_prefix(piece.size());
  }
  out.done = decoder.done();
  out.trailers = decoder.trailers();
  HW_ASSERT(decoder.payload_bytes() == out.payload.size());
  HW_ASSERT(out.trailers.size() <= kTrailerBytesKept);
  return out;
}

void check_encoder(const std::string& payload, size_t step) {
  std::string bytes;
  for (size_t at = 0; at < payload.size(); at += step) {
    if (at % 2 == 0) {
      append_chunk(bytes, std::string_view(payload).substr(at, step));
      continue;
    }
    const size_t begin = begin_chunk(bytes);
    bytes += std::string_view(payload).substr(at, step);
    end_chunk(bytes, begin);
  }
  bytes += kLastChunk;
  const Decoded back = decode(bytes, bytes.size());
  HW_ASSERT(back.done && back.payload == payload && back.consumed == bytes.size());
}

}  // namespace
}  // namespace hw::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  using namespace hw::http;
  const size_t step = 1 + data[0] % 32;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Decoded whole = decode(bytes, size);
  HW_ASSERT(decode(bytes, step) == whole);
  if (whole.done) check_encoder(whole.payload, step);
  return 0;
}
