#include "neutral/data_url.h"

#include <doctest/doctest.h>

namespace hw::translate {
namespace {

TEST_CASE("a data URL in base64 comes apart and together again") {
  Media media;
  REQUIRE(read_data_url(Text::plain("data:image/png;base64,iVBOR"), media));
  CHECK(media.kind == Media::Kind::kBase64);
  CHECK(media.media_type.is("image/png"));
  CHECK(media.data.is("iVBOR"));
  std::string out;
  append_data_url(out, media, "image/jpeg");
  CHECK(out == R"("data:image/png;base64,iVBOR")");
}

TEST_CASE("a slash that a client escaped stays a slash") {
  Media media;
  REQUIRE(read_data_url(Text::escaped(R"(data:image\/png;base64,a\/b)"), media));
  CHECK(media.media_type.is("image/png"));
  CHECK(media.data.is("a/b"));
}

TEST_CASE("parameters of the media type are left out, and a missing one has a stand-in") {
  Media media;
  REQUIRE(read_data_url(Text::plain("data:text/plain;charset=utf-8;base64,YQ=="), media));
  CHECK(media.media_type.is("text/plain"));
  REQUIRE(read_data_url(Text::plain("data:;base64,YQ=="), media));
  CHECK_FALSE(media.media_type.present());
  std::string out;
  append_data_url(out, media, "application/pdf");
  CHECK(out == R"("data:application/pdf;base64,YQ==")");
}

TEST_CASE("what is no base64 data URL is left alone") {
  Media media;
  for (const char* url : {"", "data:", "data:,abc", "data:image/svg+xml,<svg/>", "https://a/b,c",
                          "data:image/png;base64"}) {
    CHECK_FALSE(read_data_url(Text::plain(url), media));
  }
  CHECK_FALSE(read_data_url(Text(), media));
  CHECK(media.kind == Media::Kind::kNone);
}

}  // namespace
}  // namespace hw::translate
