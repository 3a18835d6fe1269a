#include "probe/api_key.h"

#include <doctest/doctest.h>

namespace hw::probe {
namespace {

const std::string kHeadwayKey = "hw-" + std::string(43, 'a');

TEST_CASE("a sound key has nothing wrong with it") {
  for (const std::string& key :
       {kHeadwayKey, std::string("sk-proj-4f9a7c21d0b8e6"), std::string("local"),
        std::string("AIza") + std::string(35, 'b')}) {
    CAPTURE(key);
    const KeyLooks looks = look_at_key(key);
    CHECK(looks.given);
    CHECK(!looks.damaged());
    CHECK(!looks.placeholder);
    CHECK(looks.bytes_expected == 0);
    CHECK(cleaned_key(key) == key);
  }
  CHECK(!look_at_key("").given);
}

TEST_CASE("damage is seen and cleaned away") {
  CHECK(look_at_key("sk-a b").blank);
  CHECK(look_at_key("sk-a b").blank_at == 4);
  CHECK(look_at_key("sk-ab\n").line_break);
  CHECK(look_at_key("sk-ab\r").line_break);
  CHECK(look_at_key("\u201csk-ab\u201d").not_ascii);
  CHECK(look_at_key("sk-ab\u200b").not_ascii);
  CHECK(look_at_key("'sk-ab'").quoted);
  CHECK(look_at_key("Bearer sk-ab").has_scheme);
  CHECK(!look_at_key("Bearer sk-ab").blank);
  CHECK(look_at_key("Bearer sk-a b").blank);
  for (const std::string_view key :
       {" sk-ab", "sk-ab \n", "sk-\tab", "\"sk-ab\"", "Bearer  sk-ab", "\u201csk-ab\u201d"}) {
    CAPTURE(key);
    CHECK(look_at_key(key).damaged());
    CHECK(cleaned_key(key) == "sk-ab");
  }
}

TEST_CASE("place-holders and masked copies are known") {
  for (const std::string_view key : {"YOUR_API_KEY", "$OPENAI_API_KEY", "${KEY}", "<key>",
                                     "sk-xxxxxxxx", "sk-...abcd", "sk-****", "{{key}}"}) {
    CAPTURE(key);
    CHECK(look_at_key(key).placeholder);
  }
}

TEST_CASE("a key that is too short or too long for its maker is known") {
  CHECK(look_at_key(kHeadwayKey.substr(0, 40)).bytes_expected == 46);
  CHECK(look_at_key(kHeadwayKey + "a").bytes_expected == 46);
  CHECK(look_at_key("hw-admin-1").admin_token);
  CHECK(look_at_key("hw-admin-1").bytes_expected == 0);
}

TEST_CASE("of a key only the public start is kept") {
  CHECK(look_at_key(kHeadwayKey).begins_with == "hw-");
  CHECK(look_at_key("sk-proj-4f9a7c21d0b8e6a1").begins_with == "sk-proj-");
  CHECK(look_at_key("4f9a7c21d0b8e6a1").begins_with.empty());
  CHECK(look_at_key("my-dev-key").begins_with.empty());
}

}  // namespace
}  // namespace hw::probe
