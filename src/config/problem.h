// Problem: one mistake in a configuration, with its place and what was expected there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/language.h"

namespace hw::config {

// Each kind of mistake; problem.cc has its text in both languages.
enum class ProblemKind : uint8_t {
  kUnreadable,        // {0} reason
  kSyntax,            // {0} what the parser says
  kUnknownSection,    // {0} sections there are
  kUnknownKey,        // {0} keys there are
  kDidYouMean,        // {0} the name that is close; for sections and keys
  kNotATable,         // {0} how it is written
  kNotAList,          // {0} how it is written
  kExpected,          // {0} what was expected, {1} what was found
  kMissing,           // {0} what was expected
  kDuplicate,         // {0} the value, {1} line of the first
  kBadUrl,            // {0} reason
  kSecretUnset,       // {0} the variable
  kSecretUnreadable,  // {0} the path, {1} reason
  kSecretEmpty,       // {0} where it was read
  kSecretTooLong,     // {0} bytes at most
  kStar,              // {0} the pattern
  kConflict,          // {0} the other key, {1} its value, {2} this value
  kTogether,          // {0} the key that is missing beside it
  kServesNothing,     // a channel with neither models nor model_map
  kWrongFamily,       // {0} the endpoint, {1} the dialect, {2} its endpoints
  kBelow,             // {0} the other key, {1} its value, {2} this value
  kBadFile,           // {0} reason, which names the file
};

// Where a value comes from, the weakest first.
enum class SourceKind : uint8_t { kFile, kEnvironment, kFlag };

// A mistake with its place.
struct Problem {
  SourceKind source = SourceKind::kFile;
  std::string place;  // the file's path, the variable's name, or the flag
  int line = 0;       // of a file; 0: the file as a whole
  std::string key;    // "channels[0].base_url"; empty: none
  ProblemKind kind = ProblemKind::kSyntax;
  std::vector<std::string> arguments;
};

// `headway.toml:12: channels[0].base_url: expected ..., found ...`, on one line without its end.
std::string describe(const Problem& problem, Language language);

}  // namespace hw::config
