// Base URL, key and model of a run, remembered until the next, so that a change is noticed: numbers
// of different triples do not compare. Pure; the key is known by a salted digest only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/language.h"

namespace hw::verify {

// One run's triple.
struct Triple {
  std::string base_url;     // without /v1 and a trailing slash: both spellings are one place
  std::string model;        // asked for; empty: none named
  std::string salt;         // hex, drawn anew for each state file
  std::string key_digest;   // hex of SHA-256 over salt and key; of the salt alone without a key
  std::string answered_by;  // the model as the last answer named it; empty: unknown
  Nanos at = 0;             // wall clock of the run
};

// The base URL as Triple keeps it.
std::string triple_base_url(std::string_view base_url);

// What is different between two runs.
struct TripleChange {
  bool base_url = false;
  bool key = false;
  bool model = false;
  bool answered_by = false;  // the same triple is answered by another model
  // Whether the numbers of the two runs do not compare.
  bool any() const { return base_url || key || model || answered_by; }
};
// Compares two runs whose digests have one salt. An unknown answered_by is no change.
TripleChange compare_triples(const Triple& before, const Triple& now);
// "base_url", "key", "model", "answered_by"; of those that changed.
std::vector<std::string_view> changed_names(const TripleChange& change);

// What a person should know of it; empty where nothing changed.
std::string triple_words(const Triple& before, const Triple& now, const TripleChange& change,
                         config::Language language);

// The state file's content, and back; nothing where the text is none.
std::string write_triple(const Triple& triple);
std::optional<Triple> read_triple(std::string_view text);

}  // namespace hw::verify
