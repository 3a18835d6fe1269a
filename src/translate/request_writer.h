// Writers of requests: a Request becomes a body for an upstream of one of the three dialects.
#pragma once

#include <string>

#include "base/dialect.h"
#include "base/result.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"
#include "neutral/target.h"

namespace hw::translate {

// Appends the body. What the dialect cannot say is met by the rules of fidelity.h; where one
// refuses, fidelity.status() is the error and `out` is of no use. The order of object members in
// schemas and arguments stays as it came.
void write_request(Dialect dialect, const Request& request, const Target& target,
                   Fidelity& fidelity, std::string& out);

}  // namespace hw::translate
