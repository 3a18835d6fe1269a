// The limits of the HTTP codecs, each with its default and reason.
#pragma once

#include <cstddef>

namespace hw::http {

// Fields that a head can hold at all. Real clients send 10 to 25 (Claude Code: 19), CDNs 40.
inline constexpr size_t kFieldsMax = 128;
// Longest method. IANA's longest is UPDATEREDIRECTREF with 17 bytes.
inline constexpr size_t kMethodBytesMax = 32;
// A chunk's extension is read over; a real one has a dozen bytes, if any.
inline constexpr size_t kChunkExtensionBytesMax = 256;
// Trailers that are kept for the caller to read: a Server-Timing line is about 100 bytes.
inline constexpr size_t kTrailerBytesKept = 1024;

// Of a request's or response's head.
struct HeadLimits {
  // Start line and fields together. Codex sends 2 KB of metadata, cookies add some; 64 KiB as nginx
  // with large_client_header_buffers.
  size_t head_bytes_max = 65536;
  // At most kFieldsMax.
  size_t fields_max = kFieldsMax;
  // The request target; 8192 is what servers commonly take (RFC 9112 §3 asks for 8000).
  size_t target_bytes_max = 8192;
};

// Of a chunked body, beside the limit on its payload, which the caller counts.
struct ChunkLimits {
  // All trailer lines together.
  size_t trailer_bytes_max = 8192;
  size_t trailers_max = 64;
};

// Of an event stream.
struct SseLimits {
  // One event from its first field to its blank line. Responses' final event carries the whole
  // answer again; 4 MiB is ten times the largest seen.
  size_t event_bytes_max = 4 * 1024 * 1024;
};

}  // namespace hw::http
