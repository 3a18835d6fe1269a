// The chunked transfer coding: decoder and encoder (RFC 9112 §7.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/limits.h"

namespace hw::http {

// What one call of ChunkDecoder::step did.
struct ChunkStep {
  size_t consumed = 0;       // bytes of `in` that are done with
  std::string_view payload;  // body bytes among them, a view into `in`; often empty
};

// Takes a chunked body apart, whatever the reads cut it into.
//
//   while (!rest.empty() && !decoder.done()) {
//     Result<ChunkStep> step = decoder.step(rest);
//     if (!step) return fail(step.error());  // the connection is out of step: close it
//     use(step->payload);
//     rest.remove_prefix(step->consumed);
//   }
//
// What is in `rest` once done() belongs to the next message. A connection that ends before done()
// has cut the body short.
class ChunkDecoder {
 public:
  // `blame` is the code of every error: kBadRequest for a request, kUpstreamProtocol for an answer.
  explicit ChunkDecoder(ErrorCode blame, const ChunkLimits& limits = {})
      : blame_(blame), limits_(limits) {}

  // Decodes up to and including the next piece of payload. Consumes at least one byte unless `in`
  // is empty or done(). Size lines are 1 to 16 hex digits, then an optional extension, then CRLF;
  // anything else fails, and every call after a failure fails.
  Result<ChunkStep> step(std::string_view in);

  // The last chunk and its trailers have been read.
  bool done() const { return state_ == State::kDone; }
  // Bytes that the chunk at hand still has to come, by its size line.
  uint64_t chunk_left() const { return left_; }
  // Payload bytes handed out so far.
  uint64_t payload_bytes() const { return payload_bytes_; }
  // Trailer lines, CRLF after each, as far as they fit into kTrailerBytesKept; complete when
  // done().
  std::string_view trailers() const { return trailers_; }

 private:
  enum class State : uint8_t {
    kSize,
    kExtension,
    kSizeLf,
    kPayload,
    kPayloadCr,
    kPayloadLf,
    kTrailer,
    kDone,
    kFailed,
  };

  size_t take_framing(std::string_view in);
  size_t take_size(std::string_view in);
  size_t take_extension(std::string_view in);
  size_t take_trailer(std::string_view in);
  void end_size_line();
  void end_trailer_line();
  void expect(char got, char wanted, State next, const char* otherwise);
  void set_fault(const char* what);

  State state_ = State::kSize;
  ErrorCode blame_;
  uint8_t digits_ = 0;
  uint16_t extension_bytes_ = 0;
  ChunkLimits limits_;
  uint64_t left_ = 0;  // of the chunk
  uint64_t payload_bytes_ = 0;
  size_t trailer_bytes_ = 0;
  size_t trailers_seen_ = 0;
  std::string trailer_line_;
  std::string trailers_;
  const char* fault_ = nullptr;
};

// The last chunk without trailers: ends a chunked body.
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
// The bytes in front of a chunk whose size was not known when they were reserved.
inline constexpr size_t kChunkHeadBytes = 8;
// Largest payload of such a chunk: six hex digits.
inline constexpr size_t kChunkPayloadMax = 0xffffff;

// Appends one chunk; nothing for an empty payload, since an empty chunk ends a body.
void append_chunk(std::string& out, std::string_view payload);

// Writes the kChunkHeadBytes bytes "00001f\r\n" at `head`; the payload follows them, then CRLF.
// Precondition: 0 < payload_bytes <= kChunkPayloadMax.
void write_chunk_head(char* head, size_t payload_bytes);

// Reserves a chunk's head at the end of `out` and tells where; append the payload, then end_chunk.
size_t begin_chunk(std::string& out);
// Fills in the head that begin_chunk reserved and appends the CRLF; takes the head back when no
// payload was appended.
void end_chunk(std::string& out, size_t begin);

}  // namespace hw::http
