// Result<T>: a value or the Error that prevented it. For what can fail in operation; our own bugs
// assert instead.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace hw {

// A value or an Error.
template <class T>
using Result = tl::expected<T, Error>;
// Nothing or an Error.
using Status = tl::expected<void, Error>;

// Makes the failing side of any Result: `return fail(ErrorCode::kBadRequest, "...")`.
[[gnu::cold]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::string detail = {}) {
  return tl::unexpected<Error>(Error(code, std::move(message), std::move(detail)));
}
// Passes an Error of another Result on.
[[gnu::cold]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace hw
