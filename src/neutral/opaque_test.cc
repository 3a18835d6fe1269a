#include "neutral/opaque.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace hw::translate {
namespace {

Opaque opaque(OpaqueKind kind, std::string item_id, std::string content) {
  Opaque out;
  out.kind = kind;
  out.item_id = std::move(item_id);
  out.content = std::move(content);
  return out;
}

TEST_CASE("an envelope gives back what was put into it, byte for byte, whatever it is") {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const OpaqueKind kind :
       {OpaqueKind::kSignature, OpaqueKind::kRedacted, OpaqueKind::kEncrypted, OpaqueKind::kDetails,
        OpaqueKind::kUnsigned}) {
    for (const std::string& content : {std::string(), std::string("c2ln.-_"), every_byte}) {
      for (const std::string& item : {std::string(), std::string("rs_1")}) {
        const std::string envelope = seal(opaque(kind, item, content));
        const auto back = unseal(Text::plain(envelope));
        REQUIRE(back);
        CHECK(back->kind == kind);
        CHECK(back->item_id == item);
        CHECK(back->content == content);
      }
    }
  }
}

TEST_CASE("an envelope needs no escape in JSON nor in a URL") {
  const std::string envelope = seal(opaque(OpaqueKind::kEncrypted, "a\"b", "\\\xff\n"));
  CHECK(std::all_of(envelope.begin(), envelope.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  }));
  CHECK(unseal(Text::escaped(envelope)));
}

TEST_CASE("what is no envelope of ours is none: signatures of others, cut and changed ones") {
  const std::string envelope = seal(opaque(OpaqueKind::kSignature, "item", "content"));
  for (const std::string_view other :
       {"", "hw", "hw.", "hw.s", "hw.s.", "hw.q..", "hw.s.aaaaa", "c2lnbmF0dXJl", "hw.ss..",
        "hw.s.=.", "hw.s..=", "HW.s..", "EqQBCkYIBxgCKkC"}) {
    CHECK_MESSAGE(!unseal(Text::plain(other)), other);
  }
  CHECK(!unseal(Text()));
  CHECK(!unseal(Text::plain(envelope + ".")));
  CHECK(!unseal(Text::plain(" " + envelope)));
}

}  // namespace
}  // namespace hw::translate
