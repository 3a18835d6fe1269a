#include "edge/credentials.h"

#include "base/text.h"

namespace hw::edge {
namespace {

// Whether the field carries a key, and by which rule it is to be read.
bool read_source(std::string_view name, access::CredentialSource& out) {
  if (is_token_named(name, "authorization")) {
    out = access::CredentialSource::kAuthorization;
  } else if (is_token_named(name, "x-api-key")) {
    out = access::CredentialSource::kApiKey;
  } else if (is_token_named(name, "x-litellm-api-key")) {
    out = access::CredentialSource::kLitellmApiKey;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Credentials::Credentials(const http::RequestHead& head) {
  for (const http::Field& field : head.fields) {
    access::Presented one;
    if (!read_source(field.name, one.source)) continue;
    one.value = field.value;
    add(one);
  }
}

void Credentials::add(const access::Presented& one) {
  if (count_ < few_.size()) {
    few_[count_++] = one;
    return;
  }
  if (many_.empty()) many_.assign(few_.begin(), few_.end());
  many_.push_back(one);
}

}  // namespace hw::edge
