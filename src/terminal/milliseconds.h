// Nanoseconds as milliseconds for people.
#pragma once

#include <string>

#include "base/clock.h"

namespace hw::terminal {

// "0.052", "933.711": three decimals, no unit; "-" for an absent value (below 0).
std::string milliseconds(Nanos ns);

// The same with " ms", and fewer decimals for longer times: "0.052 ms", "93.4 ms", "12345 ms".
std::string about_ms(Nanos ns);

}  // namespace hw::terminal
