// Any bytes: decoding neither crashes nor reads behind the end, and what it accepts can be written
// and read again without change.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "journal/call_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw::journal;
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  CallKey key;
  const bool peeked = peek_call(record, key);
  const auto call = decode_call(record);
  if (!call.has_value()) return 0;
  if (!peeked || key.id() != call->id || size > kCallBytesMax) {
    if (!peeked || key.id() != call->id) std::abort();
    return 0;  // larger than anything we write: the second pass may cut it
  }
  static std::vector<char> buffer(kCallBytesMax);
  const auto again = decode_call(encode_call(*call, buffer));
  if (!again.has_value()) std::abort();
  static std::vector<char> second(kCallBytesMax);
  if (encode_call(*call, buffer) != encode_call(*again, second)) std::abort();
  return 0;
}
