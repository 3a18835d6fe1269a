// Query: the parameters of a request's query string, and the texts that stand for times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::console {

// Percent-decoding (RFC 3986 §2.1); `+` stays a plus. An escape that is none stays as it is.
std::string percent_decode(std::string_view text);

// name=value pairs in their order, decoded; of `query` without its '?'. A plus means a blank.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

// Nanoseconds since 1970 of "2026-01-01T00:00:00Z", of the same with a fraction or an offset, or of
// a duration back from `now` ("90s", "15m", "2h", "7d"). Nothing for any other text.
std::optional<Nanos> parse_time(std::string_view text, Nanos now);

// A duration in nanoseconds: "250ms", "1.5s", "15m", "2h", "7d". Nothing for any other text, a
// negative one included.
std::optional<Nanos> parse_duration(std::string_view text);

}  // namespace hw::console
