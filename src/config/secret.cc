#include "config/secret.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "config/document.h"

namespace hw::config {
namespace {

constexpr size_t kSecretBytesMax = 4096;

ResolvedSecret failure(ProblemKind kind, std::vector<std::string> arguments) {
  ResolvedSecret out;
  out.failed = true;
  out.problem.kind = kind;
  out.problem.arguments = std::move(arguments);
  return out;
}

// `from` says where an empty secret was read; it never holds the secret itself.
ResolvedSecret checked(std::string value, std::string from) {
  if (value.empty()) return failure(ProblemKind::kSecretEmpty, {std::move(from)});
  const bool printable = std::all_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (value.size() > kSecretBytesMax || !printable) {
    return failure(ProblemKind::kSecretTooLong, {std::to_string(kSecretBytesMax)});
  }
  ResolvedSecret out;
  out.value = std::move(value);
  return out;
}

}  // namespace

std::string_view value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view() : found->second;
}

Environment process_environment() {
  Environment out;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view entry = *one;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return out;
}

ResolvedSecret resolve_secret(std::string_view text, const Environment& environment) {
  if (text.starts_with("env:")) {
    const std::string_view name = text.substr(4);
    const auto found = environment.find(name);
    if (found == environment.end()) {
      return failure(ProblemKind::kSecretUnset, {std::string(name)});
    }
    return checked(found->second, concat("the environment variable ", name));
  }
  if (text.starts_with("file:")) {
    const std::string path(text.substr(5));
    Result<std::string> content = read_small_file(path, kSecretBytesMax + 2);
    if (!content.has_value()) {
      return failure(ProblemKind::kSecretUnreadable, {path, content.error().message});
    }
    while (content->ends_with('\n') || content->ends_with('\r')) content->pop_back();
    return checked(std::move(*content), concat("the file ", path));
  }
  return checked(std::string(text), "it");
}

}  // namespace hw::config
