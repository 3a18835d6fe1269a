#include "http/chunked.h"

#include <doctest/doctest.h>

#include <string>

namespace hw::http {
namespace {

struct Decoded {
  std::string payload;
  std::string trailers;
  size_t consumed = 0;
  bool done = false;
  std::string fault;
};

// Decodes in reads that end at `cut` and every `step` bytes.
Decoded decode(std::string_view bytes, size_t cut, size_t step, const ChunkLimits& limits = {}) {
  ChunkDecoder decoder(ErrorCode::kBadRequest, limits);
  Decoded out;
  size_t begin = 0;
  while (begin < bytes.size() && !decoder.done()) {
    const size_t end = begin < cut ? cut : std::min(begin + step, bytes.size());
    std::string_view rest = bytes.substr(begin, end - begin);
    begin = end;
    while (!rest.empty() && !decoder.done()) {
      const Result<ChunkStep> piece = decoder.step(rest);
      if (!piece) {
        out.fault = piece.error().message;
        CHECK_FALSE(decoder.step(rest));
        return out;
      }
      REQUIRE(piece->consumed > 0);
      out.payload += piece->payload;
      out.consumed += piece->consumed;
      rest.remove_prefix(piece->consumed);
    }
  }
  out.done = decoder.done();
  out.trailers = decoder.trailers();
  CHECK(decoder.payload_bytes() == out.payload.size());
  return out;
}

Decoded decode_whole(std::string_view bytes, const ChunkLimits& limits = {}) {
  return decode(bytes, 0, bytes.size(), limits);
}

TEST_CASE("a body is the same whatever its reads are cut into") {
  const std::string bytes =
      "5\r\nhello\r\n00A;ext=\"q;r\"\r\n0123456789\r\n0;last\r\nServer-Timing: a\r\nX: "
      "y\r\n\r\nGET";
  const size_t size = bytes.size() - 3;
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    for (const size_t step : {size_t{1}, size_t{2}, size_t{3}, bytes.size()}) {
      const Decoded out = decode(bytes, cut, step);
      REQUIRE(out.fault == "");
      REQUIRE(out.done);
      CHECK(out.payload == "hello0123456789");
      CHECK(out.trailers == "Server-Timing: a\r\nX: y\r\n");
      CHECK(out.consumed == size);
    }
  }
}

TEST_CASE("a body that is cut short is not done") {
  const std::string bytes = "5\r\nhello\r\n0\r\n\r\n";
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(decode_whole(std::string_view(bytes).substr(0, size)).done);
  }
  CHECK(decode_whole(bytes).done);
}

TEST_CASE("sizes that are none are refused at once, at any cut") {
  for (const std::string_view bytes : {"\r\n",
                                       ";x\r\n",
                                       "g\r\n",
                                       "-1\r\n",
                                       "+1\r\n",
                                       "0x1\r\n",
                                       " 1\r\n",
                                       "1 \r\n",
                                       "1 ;x\r\n",
                                       "1\n",
                                       "1\r\r\n",
                                       "10000000000000000\r\n",
                                       "00000000000000001\r\n",
                                       "1;a\n",
                                       "1;a\x01\r\n",
                                       "1;a\rb\r\n",
                                       "1\r\nab\r\n",
                                       "1\r\na\n",
                                       "1\r\na\rb",
                                       "0\r\nX y: z\r\n",
                                       "0\r\nx\r\n",
                                       "0\r\n x: y\r\n",
                                       "0\r\nx: y\n",
                                       "0\r\n\n",
                                       "1,\r\n"}) {
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      CHECK_MESSAGE(decode(bytes, cut, 1).fault != "", bytes);
    }
  }
}

TEST_CASE("sizes of 64 bits are taken and their sum may not overflow") {
  CHECK(decode_whole("ffffffffffffffff\r\nx").fault == "");
  CHECK(decode_whole("1\r\na\r\nffffffffffffffff\r\nx").fault == "the chunks' sizes overflow");
  CHECK(decode_whole("0000000000000001\r\na\r\n0\r\n\r\n").done);
}

TEST_CASE("extensions and trailers are bounded") {
  const std::string extension(kChunkExtensionBytesMax, 'e');
  CHECK(decode_whole("1;" + extension + "\r\na\r\n0\r\n\r\n").done);
  CHECK(decode_whole("1;" + extension + "e\r\na\r\n0\r\n\r\n").fault ==
        "a chunk's extension is too long");
  // Each chunk has its own allowance.
  CHECK(decode_whole("1;" + extension + "\r\na\r\n0;" + extension + "\r\n\r\n").done);
  ChunkLimits limits;
  limits.trailers_max = 2;
  CHECK(decode_whole("0\r\na: b\r\nc: d\r\n\r\n", limits).done);
  CHECK(decode_whole("0\r\na: b\r\nc: d\r\ne: f\r\n\r\n", limits).fault ==
        "there are too many trailers");
  limits = {};
  limits.trailer_bytes_max = 8;
  CHECK(decode_whole("0\r\na: b\r\n\r\n", limits).done);
  CHECK(decode_whole("0\r\na: bc\r\n\r\n", limits).fault == "the trailers are too long");
  CHECK(decode_whole("0\r\nendless", limits).fault == "");
  CHECK(decode_whole("0\r\nendlessss", limits).fault == "the trailers are too long");
}

TEST_CASE("trailers beyond what is kept are dropped whole, smaller ones behind them are kept") {
  const std::string large = "Large: " + std::string(kTrailerBytesKept, 'x') + "\r\n";
  const Decoded out = decode_whole("0\r\nA: b\r\n" + large + "C: d\r\n\r\n");
  CHECK(out.done);
  CHECK(out.trailers == "A: b\r\nC: d\r\n");
}

TEST_CASE("the fault bears the code it was given") {
  ChunkDecoder decoder(ErrorCode::kUpstreamProtocol);
  CHECK(decoder.step("zz").error().code == ErrorCode::kUpstreamProtocol);
}

TEST_CASE("what the encoder writes the decoder reads") {
  std::string out;
  append_chunk(out, "hello");
  append_chunk(out, "");
  append_chunk(out, std::string(300, 'x'));
  const size_t begin = begin_chunk(out);
  out += "patched";
  end_chunk(out, begin);
  const size_t empty = begin_chunk(out);
  end_chunk(out, empty);
  out += kLastChunk;
  CHECK(out.starts_with("5\r\nhello\r\n12c\r\nx"));
  CHECK(out.ends_with("\r\n000007\r\npatched\r\n0\r\n\r\n"));
  const Decoded back = decode_whole(out);
  CHECK(back.done);
  CHECK(back.payload == "hello" + std::string(300, 'x') + "patched");
  char head[kChunkHeadBytes];
  write_chunk_head(head, kChunkPayloadMax);
  CHECK(std::string_view(head, sizeof head) == "ffffff\r\n");
}

}  // namespace
}  // namespace hw::http
