#include "http/coding.h"

#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>
#include <string>

namespace hw::http {
namespace {

std::string deflated(std::string_view text, int window_bits) {
  z_stream stream = {};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string gzip(std::string_view text) {
  return deflated(text, 16 + MAX_WBITS);
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// `{"hello":"world"}` as brotli -q 11 writes it: the package has no encoder that we link.
const std::string kBrotli("\x0b\x08\x80{\"hello\":\"world\"}\x03", 21);

// 50 million zeros, by the same encoder.
std::string brotli_bomb() {
  constexpr std::string_view kHex =
      "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc1"
      "3f0110870500baf77ffcffff837f02200e0b0074effff20f5e0fff04401c1600e8a0eb01";
  std::string out;
  for (size_t i = 0; i < kHex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(kHex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

struct Decoded {
  Status status;
  std::string text;
};

Decoded decode(std::string_view coding, std::string_view bytes, size_t step = SIZE_MAX,
               size_t max = SIZE_MAX / 4) {
  Result<Decoder> decoder = Decoder::make(coding);
  REQUIRE(decoder);
  Decoded out;
  while (!bytes.empty()) {
    const std::string piece(bytes.substr(0, step));
    bytes.remove_prefix(piece.size());
    out.status = decoder->decode(piece, out.text, max);
    if (!out.status) return out;
  }
  out.status = decoder->finish();
  return out;
}

std::string sample_text() {
  std::string text;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) text += "the quick brown fox "[random() % 20];
  return text + std::string(50000, 'a');
}

TEST_CASE("each coding is undone whatever its reads are cut into") {
  const std::string text = sample_text();
  const std::string raw = deflated(text, -MAX_WBITS);
  const std::string zlib = deflated(text, MAX_WBITS);
  for (const size_t step : {size_t{1}, size_t{2}, size_t{100}, SIZE_MAX}) {
    CHECK(decode("gzip", gzip(text), step).text == text);
    CHECK(decode("X-GZIP", gzip(text), step).text == text);
    CHECK(decode("deflate", raw, step).text == text);
    CHECK(decode("deflate", zlib, step).text == text);
    CHECK(decode("zstd", zstd(text), step).text == text);
    CHECK(decode("br", kBrotli, step).text == R"({"hello":"world"})");
    CHECK(decode("zstd, gzip", gzip(zstd(text)), step).text == text);
    CHECK(decode("gzip, br", gzip("x"), step).status.has_value() == false);
    CHECK(decode(" identity , gzip", gzip(text), step).text == text);
    CHECK(decode("", "plain", step).text == "plain");
  }
}

TEST_CASE("members and frames that follow each other are one body") {
  CHECK(decode("gzip", gzip("one ") + gzip("two")).text == "one two");
  CHECK(decode("gzip", gzip("one ") + gzip("two"), 1).text == "one two");
  CHECK(decode("zstd", zstd("one ") + zstd("two")).text == "one two");
}

TEST_CASE("every cut is noticed at the end") {
  for (const auto& [coding, bytes] :
       {std::pair<std::string, std::string>{"gzip", gzip("hello hello hello")},
        {"deflate", deflated("hello hello hello", -MAX_WBITS)},
        {"deflate", deflated("hello hello hello", MAX_WBITS)},
        {"zstd", zstd("hello hello hello")},
        {"br", kBrotli},
        {"zstd, gzip", gzip(zstd("hello hello"))}}) {
    CHECK(decode(coding, "").status);
    for (size_t size = 1; size < bytes.size(); ++size) {
      const Decoded out = decode(coding, std::string_view(bytes).substr(0, size));
      CHECK_MESSAGE(!out.status, coding << " cut at " << size);
      if (!out.status) CHECK(out.status.error().code == ErrorCode::kBadRequest);
    }
    CHECK(decode(coding, bytes).status);
  }
}

TEST_CASE("damage and bytes behind the end are refused") {
  CHECK_FALSE(decode("gzip", "not gzip at all").status);
  CHECK_FALSE(decode("zstd", "not zstd at all").status);
  CHECK_FALSE(decode("br", "\xff\xff\xff\xff\xff").status);
  CHECK_FALSE(decode("gzip", gzip("x") + "junk").status);
  CHECK_FALSE(decode("deflate", deflated("x", MAX_WBITS) + "junk").status);
  CHECK_FALSE(decode("zstd", zstd("x") + "junk!").status);
  CHECK_FALSE(decode("br", kBrotli + "j").status);
  CHECK_FALSE(decode("zstd, gzip", gzip("not zstd")).status);
  std::string damaged = gzip(sample_text());
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  CHECK_FALSE(decode("gzip", damaged).status);
}

TEST_CASE("a bomb ends at the limit and not a byte later") {
  const std::string zeros(50'000'000, '\0');
  for (const auto& [coding, bytes] : {std::pair<std::string, std::string>{"gzip", gzip(zeros)},
                                      {"zstd", zstd(zeros)},
                                      {"br", brotli_bomb()},
                                      {"deflate", deflated(zeros, MAX_WBITS)},
                                      {"gzip, gzip", gzip(gzip(zeros))},
                                      {"zstd, gzip", gzip(zstd(zeros))}}) {
    const Decoded out = decode(coding, bytes, SIZE_MAX, 100'000);
    REQUIRE_FALSE(out.status);
    CHECK(out.status.error().code == ErrorCode::kBodyTooLarge);
    CHECK(out.text.size() <= 100'001);
    CHECK(out.text.capacity() <= 300'000);
  }
}

TEST_CASE("a bomb between two codings ends too, though nothing comes out behind it") {
  std::string members;
  const std::string nothing = gzip("");
  while (members.size() < 2'000'000) members += nothing;
  const Decoded out = decode("gzip, gzip", gzip(members), SIZE_MAX, 100'000);
  REQUIRE_FALSE(out.status);
  CHECK(out.status.error().code == ErrorCode::kBodyTooLarge);
  CHECK(out.text.empty());
  CHECK(decode("gzip, gzip", gzip(members), SIZE_MAX, 10'000'000).status);
}

TEST_CASE("exactly the limit passes") {
  const std::string text(1000, 'x');
  CHECK(decode("gzip", gzip(text), SIZE_MAX, 1000).text == text);
  CHECK(decode("gzip", gzip(text), SIZE_MAX, 1000).status);
  CHECK_FALSE(decode("gzip", gzip(text), SIZE_MAX, 999).status);
  CHECK(decode("", text, 10, 1000).status);
  CHECK_FALSE(decode("", text, 10, 999).status);
}

TEST_CASE("a zstd window beyond 8 MiB is refused") {
  const std::string text(1 << 25, 'x');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 24);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer source = {text.data(), text.size(), 0};
  ZSTD_outBuffer target = {out.data(), out.size(), 0};
  REQUIRE(ZSTD_compressStream2(context, &target, &source, ZSTD_e_continue) == 0);
  REQUIRE(ZSTD_compressStream2(context, &target, &source, ZSTD_e_end) == 0);
  ZSTD_freeCCtx(context);
  CHECK_FALSE(decode("zstd", {out.data(), target.pos}).status);
}

TEST_CASE("a zstd frame is judged alike whole and in any two pieces") {
  // It promises 16 bytes and has two empty blocks.
  const std::string frame("\x28\xb5\x2f\xfd\x20\x10\0\0\0\1\0\0", 12);
  const auto verdict = [&](size_t cut) {
    Result<Decoder> decoder = Decoder::make("zstd");
    REQUIRE(decoder);
    std::string out;
    bool fine = decoder->decode(frame.substr(0, cut), out, 1000).has_value();
    fine = fine && decoder->decode(frame.substr(cut), out, 1000).has_value();
    return fine && decoder->finish().has_value();
  };
  const bool whole = verdict(frame.size());
  for (size_t cut = 0; cut < frame.size(); ++cut) CHECK(verdict(cut) == whole);
}

TEST_CASE("other codings, and more than two, are told as unsupported") {
  for (const std::string_view coding :
       {"compress", "gzip2", "gzip;q=1", "gzip, br, zstd", "gzip gzip"}) {
    const Result<Decoder> decoder = Decoder::make(coding);
    REQUIRE_FALSE(decoder);
    CHECK(decoder.error().code == ErrorCode::kUnsupportedCoding);
  }
  CHECK(Decoder::make("identity")->is_identity());
  CHECK(Decoder::make("")->is_identity());
  CHECK_FALSE(Decoder::make("gzip")->is_identity());
}

TEST_CASE("faults bear the code they were given") {
  Result<Decoder> decoder = Decoder::make("gzip", ErrorCode::kUpstreamProtocol);
  std::string out;
  CHECK(decoder->decode("junkjunkjunk", out, 1000).error().code == ErrorCode::kUpstreamProtocol);
}

}  // namespace
}  // namespace hw::http
