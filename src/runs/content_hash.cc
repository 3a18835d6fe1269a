#include "runs/content_hash.h"

#include <openssl/evp.h>

#include "base/assert.h"
#include "base/ids.h"

namespace hw::runs {

struct ContentHash::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
  HW_ASSERT(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}
ContentHash::~ContentHash() = default;

void ContentHash::add(std::string_view bytes) {
  HW_ASSERT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string ContentHash::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HW_ASSERT(EVP_DigestFinal_ex(state_->context, digest, &size) == 1);
  std::string out;
  append_hex(out, digest, size);
  return out;
}

}  // namespace hw::runs
