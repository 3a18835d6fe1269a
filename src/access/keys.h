// The keys that let a request in, as an immutable snapshot, and the one rule that applies them.
//
// Pure and lock-free: a loop holds a shared_ptr to a snapshot and replaces it when it is told to
// (key_ring.h). authorize() looks at the head alone, before a body is read.
//
//   std::vector<Presented> seen;              // filled while walking the head's fields
//   Result<Admission> who = authorize(*keys, seen);
//   if (!who) answer(who.error());            // 401, message says what to mend
//   ... after the body: if (Status ok = check_model(*who->key, model); !ok) answer(ok.error());
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/declared_key.h"
#include "access/digest.h"
#include "base/result.h"

namespace hw::access {

// Where a key comes from: it can be disabled or deleted at run time only when it is stored.
enum class KeyOrigin : uint8_t { kDeclared, kStored };

// What a key may do. Holds neither secret nor digest.
struct Key {
  std::string id;                           // stored: "key_..."; declared: empty
  std::string name;                         // shown in calls and logs
  std::vector<std::string> models = {"*"};  // names it may ask for; one * at the end
  bool disabled = false;
  KeyOrigin origin = KeyOrigin::kDeclared;

  // True where the allow-list has `model` or a pattern that it begins with.
  bool allows(std::string_view model) const;
};

// A longer secret is none of ours, declared ones included: bounds what a stranger makes us hash.
inline constexpr size_t kSecretBytesMax = 512;

// A key with the digest it is found by; how a snapshot is built.
struct KeyEntry {
  Digest digest{};
  Key key;
};

// Immutable map from digest to key. Pointers into it live as long as the snapshot.
class KeySnapshot {
 public:
  KeySnapshot() = default;
  // Of two entries with one digest the first is kept.
  explicit KeySnapshot(std::vector<KeyEntry> entries);
  // The key of a digest, or null. Compares in constant time, allocates nothing.
  const Key* find(const Digest& digest) const;
  // The key of a presented secret, or null.
  const Key* find_secret(std::string_view secret) const;
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  struct FirstBytes {
    size_t operator()(const Digest& digest) const;
  };
  struct ConstantTime {
    bool operator()(const Digest& a, const Digest& b) const { return equal_in_constant_time(a, b); }
  };
  std::unordered_map<Digest, Key, FirstBytes, ConstantTime> entries_;
};

// The header a credential came in. In order of precedence.
enum class CredentialSource : uint8_t { kAuthorization, kApiKey, kLitellmApiKey };
// "authorization", "x-api-key", "x-litellm-api-key": as `credential_from` of a call.
std::string_view credential_source_name(CredentialSource source);

// One credential header of a request: its whole value as it came ("Bearer sk-hw-...").
struct Presented {
  CredentialSource source = CredentialSource::kAuthorization;
  std::string_view value;
};
// As many key headers as a request has at most, where nobody plays games.
inline constexpr size_t kPresentedUsual = 8;

// The secret in a header's value by the header's own rule; empty where it holds none.
std::string_view presented_secret(const Presented& presented);

// Who was let in, and by which header. `key` points into the snapshot.
struct Admission {
  const Key* key = nullptr;
  CredentialSource source = CredentialSource::kAuthorization;
};

// Looks at the credentials in the order of CredentialSource, whatever their order in the head; the
// first that is a key of ours counts, so a stray second one does no harm. `Authorization` counts
// with the scheme Bearer in any case (RFC 6750 §2.1); `x-litellm-api-key` with or without it.
// Errors: kUnauthorized for none, an unknown or a disabled key; the message says which, and how to
// mend it. It holds no part of a secret.
Result<Admission> authorize(const KeySnapshot& keys, std::span<const Presented> presented);

// kForbidden where the key's allow-list lacks `model`.
Status check_model(const Key& key, std::string_view model);

}  // namespace hw::access
