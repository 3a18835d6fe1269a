#include "access/keys.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace hw::access {
namespace {

constexpr std::string_view kBearer = "bearer";

// What follows "Bearer" and its spaces; empty where the scheme is another or nothing follows.
std::string_view bearer_token(std::string_view value) {
  if (value.size() <= kBearer.size()) return {};
  if (!equal_ignoring_case(value.substr(0, kBearer.size()), kBearer)) return {};
  std::string_view rest = value.substr(kBearer.size());
  if (rest.front() != ' ' && rest.front() != '\t') return {};
  return trim(rest);
}

// `text` without what copying and shell quoting leave around a key.
std::string_view without_wrapping(std::string_view text) {
  constexpr std::string_view kWrapping = " \t\r\n\"'`<>,;";
  const size_t begin = text.find_first_not_of(kWrapping);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWrapping) - begin + 1);
}

// Prefixes of other providers' keys, which people send by mistake.
struct ForeignKey {
  std::string_view prefix, owner;
};
constexpr ForeignKey kForeignKeys[] = {
    {"sk-ant-", "Anthropic"}, {"sk-proj-", "OpenAI"}, {"sk-svcacct-", "OpenAI"},
    {"sk-or-", "OpenRouter"}, {"gsk_", "Groq"},       {"hf_", "Hugging Face"},
    {"AIza", "Google"},       {"xai-", "xAI"},        {"nvapi-", "NVIDIA"},
};

std::string foreign_key_hint(std::string_view secret) {
  for (const ForeignKey& foreign : kForeignKeys) {
    if (!secret.starts_with(foreign.prefix)) continue;
    return concat(
        " It looks like a key of ", foreign.owner,
        "; send a key of this gateway instead, the upstream's own belongs in the channel's "
        "`credential`.");
  }
  return {};
}

// Why a value that is there is no key of ours: what would have made it one, where that can be seen.
std::string unknown_key_hint(const KeySnapshot& keys, const Presented& presented) {
  const bool authorization = presented.source == CredentialSource::kAuthorization;
  const std::string_view token = bearer_token(presented.value);
  const std::string_view given = token.empty() ? presented.value : token;
  if (authorization && token.empty() && keys.find_secret(trim(given)) != nullptr) {
    return " The header lacks the word Bearer: send `Authorization: Bearer KEY`.";
  }
  if (!authorization && !token.empty() && keys.find_secret(token) != nullptr) {
    return " The word Bearer does not belong into this header: send the key alone.";
  }
  std::string_view bare = without_wrapping(given);
  if (const std::string_view inner = bearer_token(bare); !inner.empty()) bare = inner;
  if (bare.size() != given.size() && keys.find_secret(bare) != nullptr) {
    return " There are spaces, quotes or other characters around the key: send the key alone.";
  }
  if (authorization && token.empty() && presented.value.find(' ') != std::string_view::npos) {
    return " The scheme of Authorization must be Bearer.";
  }
  return foreign_key_hint(bare);
}

Error unknown_key(const KeySnapshot& keys, const Presented& presented) {
  std::string message = concat("The key in ", credential_source_name(presented.source),
                               " is not a key of this gateway.");
  const std::string hint = unknown_key_hint(keys, presented);
  message += hint;
  if (hint.empty()) {
    message += keys.empty()
                   ? " No key exists yet: make one with `headway key create --name NAME`."
                   : " Check it for a missing part, or make one with `headway key create --name "
                     "NAME`.";
  }
  return Error(ErrorCode::kUnauthorized, std::move(message));
}

Error no_key(const KeySnapshot& keys) {
  std::string message =
      "The request carries no key. Send `Authorization: Bearer KEY` or `x-api-key: KEY`.";
  if (keys.empty()) {
    message += " No key exists yet: make one with `headway key create --name NAME`.";
  }
  return Error(ErrorCode::kUnauthorized, std::move(message));
}

}  // namespace

bool Key::allows(std::string_view model) const {
  return std::any_of(models.begin(), models.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, model); });
}

size_t KeySnapshot::FirstBytes::operator()(const Digest& digest) const {
  size_t hash;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

KeySnapshot::KeySnapshot(std::vector<KeyEntry> entries) {
  entries_.reserve(entries.size());
  for (KeyEntry& entry : entries) entries_.emplace(entry.digest, std::move(entry.key));
}

const Key* KeySnapshot::find_secret(std::string_view secret) const {
  if (secret.size() > kSecretBytesMax) return nullptr;
  return find(sha256(secret));
}

const Key* KeySnapshot::find(const Digest& digest) const {
  const auto found = entries_.find(digest);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string_view credential_source_name(CredentialSource source) {
  switch (source) {
    case CredentialSource::kAuthorization:
      return "authorization";
    case CredentialSource::kApiKey:
      return "x-api-key";
    case CredentialSource::kLitellmApiKey:
      return "x-litellm-api-key";
  }
  return "";
}

std::string_view presented_secret(const Presented& presented) {
  switch (presented.source) {
    case CredentialSource::kAuthorization:
      return bearer_token(presented.value);
    case CredentialSource::kApiKey:
      return presented.value;
    case CredentialSource::kLitellmApiKey: {
      const std::string_view token = bearer_token(presented.value);
      return token.empty() ? presented.value : token;
    }
  }
  return {};
}

Result<Admission> authorize(const KeySnapshot& keys, std::span<const Presented> presented) {
  using enum CredentialSource;
  const Presented* first_unknown = nullptr;
  for (const CredentialSource source : {kAuthorization, kApiKey, kLitellmApiKey}) {
    for (const Presented& one : presented) {
      if (one.source != source || trim(one.value).empty()) continue;
      const std::string_view secret = presented_secret(one);
      const Key* key = secret.empty() ? nullptr : keys.find_secret(secret);
      if (key == nullptr) {
        if (first_unknown == nullptr) first_unknown = &one;
        continue;
      }
      if (!key->disabled) return Admission{key, source};
      return fail(
          ErrorCode::kUnauthorized,
          concat("The key \"", key->name, "\" is disabled. Enable it with `headway key enable ",
                 key->name, "`, or use another."));
    }
  }
  if (first_unknown != nullptr) return fail(unknown_key(keys, *first_unknown));
  return fail(no_key(keys));
}

Status check_model(const Key& key, std::string_view model) {
  if (key.allows(model)) return {};
  constexpr size_t kShownMax = 200;  // a name from outside is not echoed without bound
  std::string allowed;
  for (const std::string& name : key.models) {
    if (!allowed.empty()) allowed += ", ";
    allowed += name;
  }
  return fail(ErrorCode::kForbidden, concat("The key \"", key.name, "\" may not use the model \"",
                                            model.substr(0, kShownMax), "\". It may use: ",
                                            allowed.empty() ? "none" : allowed, "."));
}

}  // namespace hw::access
