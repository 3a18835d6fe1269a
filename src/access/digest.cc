#include "access/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "base/assert.h"
#include "base/ids.h"

namespace hw::access {
namespace {

// One context per thread, set to SHA-256 once: a start without a type only resets its state.
struct Context {
  Context() {
    HW_ASSERT(raw != nullptr);
    HW_ASSERT(EVP_DigestInit_ex(raw, EVP_sha256(), nullptr) == 1);
  }
  ~Context() { EVP_MD_CTX_free(raw); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  EVP_MD_CTX* raw = EVP_MD_CTX_new();
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::string_view text) {
  thread_local const Context context;
  Digest out;
  unsigned size = 0;
  const bool done = EVP_DigestInit_ex(context.raw, nullptr, nullptr) == 1 &&
                    EVP_DigestUpdate(context.raw, text.data(), text.size()) == 1 &&
                    EVP_DigestFinal_ex(context.raw, out.data(), &size) == 1;
  HW_ASSERT(done && size == out.size());
  return out;
}

bool equal_in_constant_time(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
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
