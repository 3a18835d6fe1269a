// Members of the objects that requests of responses are made of: found by a table of their names,
// and noted where nobody knows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// Notes a member inside an item, a part or a tool that has no place in the model; the same path is
// noted once, null is nothing and not noted.
void note_responses_member(Request& out, std::string_view where, std::string_view name,
                           const json::Value& value);

// The word that `value` is, kept where it has escapes; empty where it is no string.
std::string_view responses_word(Request& out, const json::Value& value);

// A member's name and where a struct of values keeps it.
template <class Members>
struct ResponsesMember {
  std::string_view name;
  json::Value Members::* value;
};

// Fills `members`; true where every member has its place there.
template <class Members, size_t kCount>
bool read_responses_members(json::Object object, const ResponsesMember<Members> (&places)[kCount],
                            Members& members) {
  bool all_known = true;
  object.each([&](std::string_view key, const json::Value& value) {
    const auto place = std::find_if(std::begin(places), std::end(places),
                                    [key](const auto& one) { return one.name == key; });
    if (place == std::end(places)) {
      all_known = false;
    } else {
      members.*place->value = value;
    }
  });
  return all_known;
}

// Notes those that have no place there.
template <class Members, size_t kCount>
void note_unknown_members(json::Object object, const ResponsesMember<Members> (&places)[kCount],
                          std::string_view where, Request& out) {
  object.each([&](std::string_view key, const json::Value& value) {
    const bool known = std::any_of(std::begin(places), std::end(places),
                                   [key](const auto& one) { return one.name == key; });
    if (!known) note_responses_member(out, where, key, value);
  });
}

}  // namespace hw::translate
