#include "base/dialect.h"

#include <array>

namespace hw {
namespace {

constexpr std::array<std::string_view, kDialectCount> kDialects = {
    "openai-chat", "openai-completions", "openai-responses", "openai-embeddings",
    "anthropic-messages"};
constexpr std::array<std::string_view, kOutcomeCount> kOutcomes = {
    "ok",      "rejected",    "client_error",  "upstream_error",
    "timeout", "client_gone", "gateway_error", "interrupted"};

template <class Names, class Enum>
bool find(const Names& names, std::string_view name, Enum& out) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

}  // namespace

std::string_view dialect_name(Dialect dialect) {
  return kDialects[static_cast<size_t>(dialect)];
}
bool parse_dialect(std::string_view name, Dialect& out) {
  return find(kDialects, name, out);
}

Family family_of(Dialect dialect) {
  return dialect == Dialect::kAnthropicMessages ? Family::kAnthropic : Family::kOpenai;
}
std::string_view family_name(Family family) {
  return family == Family::kAnthropic ? "anthropic" : "openai";
}

std::string_view outcome_name(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}
bool parse_outcome(std::string_view name, Outcome& out) {
  return find(kOutcomes, name, out);
}

}  // namespace hw
