#include "responses/members.h"

#include <string>

#include "base/text.h"

namespace hw::translate {
namespace {

// More paths than this are not told apart: a call's account has fewer marks.
constexpr size_t kNestedFieldsMax = 64;

}  // namespace

void note_responses_member(Request& out, std::string_view where, std::string_view name,
                           const json::Value& value) {
  if (value.is_null()) return;
  std::string path = concat(where, ".", name);
  size_t nested = 0;
  for (const OtherField& field : out.others) {
    if (field.name == path) return;
    nested += field.name.find('.') != std::string_view::npos;
  }
  if (nested < kNestedFieldsMax) out.others.push_back({out.keep(std::move(path)), value.raw()});
}

std::string_view responses_word(Request& out, const json::Value& value) {
  const std::string_view word = value.text_or("");
  const bool escaped = word.size() + 2 != value.raw().size();
  return escaped && !word.empty() ? out.keep(std::string(word)) : word;
}

}  // namespace hw::translate
