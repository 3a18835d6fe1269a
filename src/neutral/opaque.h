// Opaque: what proves a model's thinking to its maker (a signature, encrypted content), carried
// through clients of another dialect and given back byte for byte.
//
// A client keeps one string with a piece of thinking: `signature` (messages), `encrypted_content`
// (responses), `reasoning_details` (chat). What comes from an upstream of its own dialect is passed
// as it is. What comes from another is put into an envelope that tells its kind, so that the way
// back knows what it holds, and what is no envelope is the client's dialect's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neutral/text.h"

namespace hw::translate {

// Who made it and what it is.
enum class OpaqueKind : uint8_t {
  kSignature,  // messages: the signature of a thinking block
  kRedacted,   // messages: the data of a redacted_thinking block
  kEncrypted,  // responses: encrypted_content; `item_id` is the item's id
  kDetails,    // chat: reasoning_details, JSON
  kUnsigned,   // chat: reasoning_content, which needs no proof
};

struct Opaque {
  OpaqueKind kind = OpaqueKind::kUnsigned;
  std::string item_id;
  std::string content;
};

// The envelope: letters, digits and `._-` only.
std::string seal(const Opaque& opaque);
// What `envelope` holds; nothing where it is none of ours.
std::optional<Opaque> unseal(const Text& envelope);

}  // namespace hw::translate
