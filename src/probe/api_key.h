// What is wrong with a key by its looks: blanks, line ends, quotes, a place-holder, missing
// characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw::probe {

// One key, looked at. The key itself is not in here but for its public prefix.
struct KeyLooks {
  bool given = false;
  size_t bytes = 0;
  std::string begins_with;    // "hw-", "sk-ant-": letters up to the last dash of its start; or ""
  bool line_break = false;    // CR, LF or another control character
  bool blank = false;         // a space or tab, anywhere
  size_t blank_at = 0;        // where the first one is
  bool not_ascii = false;     // full-width letters, typographic quotes, a zero-width character, "…"
  bool quoted = false;        // quotation marks around it
  bool has_scheme = false;    // "Bearer sk-..."
  bool placeholder = false;   // YOUR_API_KEY, $OPENAI_API_KEY, sk-xxxx, sk-...abcd
  bool admin_token = false;   // Headway's admin token, which is no key
  size_t bytes_expected = 0;  // its maker's keys are this long, where this one is not; 0: fine

  // Something that no key has: it was damaged on its way here.
  bool damaged() const { return line_break || blank || not_ascii || quoted || has_scheme; }
};

// Looks at `key`.
KeyLooks look_at_key(std::string_view key);

// The key without what damaged() names; may be empty.
std::string cleaned_key(std::string_view key);

}  // namespace hw::probe
