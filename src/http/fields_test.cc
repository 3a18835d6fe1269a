#include "http/fields.h"

#include <doctest/doctest.h>

#include <string>

#include "http/characters.h"

namespace hw::http {
namespace {

TEST_CASE("fields of one connection stay behind, the listed ones too") {
  Fields fields;
  fields.add("Connection", "close, X-Private");
  fields.add("connection", " Foo ,,keep-alive");
  const HopByHop hop(fields);
  for (const std::string_view name :
       {"connection", "Keep-Alive", "proxy-connection", "TE", "trailer", "Transfer-Encoding",
        "upgrade", "Proxy-Authenticate", "proxy-authorization", "x-private", "FOO"}) {
    CHECK_MESSAGE(hop.drops(name), name);
  }
  CHECK_FALSE(hop.drops("content-length"));
  const Fields none;
  CHECK_FALSE(HopByHop(none).drops("foo"));
  CHECK(HopByHop(none).drops("te"));
}

TEST_CASE("tokens, values and field lines are told apart from what they are not") {
  CHECK(is_token("x-a!#$%&'*+.^_`|~9"));
  for (const std::string_view bad : {"", "a b", "a:", "a\x80", "a/"}) CHECK_FALSE(is_token(bad));
  CHECK(is_field_value("a \t b\xff"));
  CHECK(is_field_value(""));
  for (const std::string_view bad : {" a", "a ", "a\r", "a\nb", "\x7f"}) {
    CHECK_FALSE(is_field_value(bad));
  }
  Field field;
  CHECK(parse_field_line("Server-Timing:  a;dur=1 ", field) == nullptr);
  CHECK(field.name == "Server-Timing");
  CHECK(field.value == "a;dur=1");
  for (const std::string_view bad : {"", ":", "a", " a: b", "a : b", "a: b\x01"}) {
    CHECK_MESSAGE(parse_field_line(bad, field) != nullptr, bad);
  }
}

TEST_CASE("a list gives its elements without the blanks around them") {
  std::string_view list = " a,\t,b c ,";
  CHECK(take_list_element(list) == "a");
  CHECK(take_list_element(list).empty());
  CHECK(take_list_element(list) == "b c");
  CHECK(list.empty());
}

TEST_CASE("every character is told apart at every place of a vector's width") {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const bool token =
        value < 128 && value > 0x20 &&
        std::string_view("\"(),/:;<=>?@[\\]{}\x7f").find(c) == std::string_view::npos;
    const bool control = (value < 0x20 && c != '\t') || value == 0x7f;
    for (size_t at = 0; at < 36; ++at) {
      std::string text(36, 'x');
      text[at] = c;
      const char* end = text.data() + text.size();
      REQUIRE(find_token_end(text.data(), end) == (token ? end : text.data() + at));
      REQUIRE(find_control(text.data(), end) == (control ? text.data() + at : end));
    }
  }
}

TEST_CASE("fields keep their order when there are more than lie in the object") {
  const std::string names(Fields::kInline + 2, 'n');
  Fields fields;
  for (size_t i = 0; i < names.size(); ++i) {
    REQUIRE(fields.add(std::string_view(names).substr(i), "v"));
    REQUIRE(fields.size() == i + 1);
    for (size_t k = 0; k <= i; ++k) REQUIRE(fields[k].name.size() == names.size() - k);
  }
  fields.clear();
  REQUIRE(fields.add("a", "b"));
  CHECK(fields.value("A") == "b");
}

TEST_CASE("a full list takes no more") {
  Fields fields;
  for (size_t i = 0; i < kFieldsMax; ++i) CHECK(fields.add("a", "b"));
  CHECK_FALSE(fields.add("a", "b"));
  CHECK(fields.size() == kFieldsMax);
  fields.clear();
  CHECK(fields.empty());
}

}  // namespace
}  // namespace hw::http
