// Secrets in a configuration: a text as it is, "env:NAME", or "file:PATH".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/problem.h"

namespace hw::config {

// The environment as a map, so that tests bring their own.
using Environment = std::map<std::string, std::string, std::less<>>;
// A variable's value; empty where it is not set. Lives as long as the environment.
std::string_view value_of(const Environment& environment, std::string_view name);
Environment process_environment();

// A secret, or the problem with it (`kind` and `arguments` only; the caller knows the place).
struct ResolvedSecret {
  std::string value;
  bool failed = false;
  Problem problem;
};

// "env:NAME" gives the variable's value, "file:PATH" the file's content without the line end that
// an editor leaves behind; anything else stands for itself. A secret is 1 to 4096 bytes without
// control characters, since it is sent in a header.
ResolvedSecret resolve_secret(std::string_view text, const Environment& environment);

}  // namespace hw::config
