// TrimmedBody: what is left of a request's body when what its channel does not take has been cut
// out: fields beyond the channel's list, and proofs of thinking in an envelope of ours, which the
// upstream could not check.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"

namespace hw::translate {

struct TrimmedBody {
  std::string body;
  // The marks of what was cut: names of fields, and `thinking` (messages) or `reasoning`
  // (responses) for envelopes.
  std::vector<std::string> lossy;
};

// Cuts out of `body`, a valid request of `dialect`, the top-level fields that `fields` does not
// name (empty: none is cut; those without which there is no request stay), and from the
// conversation of messages and responses the blocks and items whose proof is an envelope
// (opaque.h), so that a conversation begun on a channel of another dialect can go on here. Nothing
// where nothing was to be cut: then the body goes as it came.
std::optional<TrimmedBody> trim(Dialect dialect, std::string_view body,
                                std::span<const std::string> fields);

}  // namespace hw::translate
