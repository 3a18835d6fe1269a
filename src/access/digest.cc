#include "access/digest.h"

// SHA256_Init and its kin cost a third of the EVP calls that replace them; for a few dozen bytes in
// every request that is most of it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

#include "base/ids.h"

namespace hw::access {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::string_view text) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  Digest out;
  SHA256_Final(out.data(), &context);
  return out;
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  uint64_t different = 0;
  for (size_t at = 0; at < a.size(); at += sizeof different) {
    uint64_t of_a, of_b;
    std::memcpy(&of_a, a.data() + at, sizeof of_a);
    std::memcpy(&of_b, b.data() + at, sizeof of_b);
    different |= of_a ^ of_b;
  }
  return different == 0;
}

std::string digest_hex(const Digest& digest) {
  std::string out;
  append_hex(out, digest.data(), digest.size());
  return out;
}

std::optional<Digest> parse_digest_hex(std::string_view hex) {
  Digest out;
  if (hex.size() != 2 * out.size()) return std::nullopt;
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return out;
}

}  // namespace hw::access
