// Settings of the gateway, each with its default and its reason. Filled by app from headway.toml;
// an exchange keeps the set it began with.
#pragma once

#include <cstdint>
#include <string>

namespace hw::gateway {

// What to do when a client half-closes its connection during an exchange. A full close looks the
// same on the wire.
enum class HalfClose : uint8_t {
  kAbort,  // take it as "the client left" (nginx does the same; no SDK half-closes)
  kServe,  // go on until a write fails
  kProbe,  // write one SSE comment at an event boundary: a closed peer answers with a reset
};

// Clocks in milliseconds; 0: none. Each names itself in the error it causes.
struct Timeouts {
  int64_t head_ms = 10'000;      // the client's request head, from its first byte
  int64_t body_ms = 60'000;      // the client's body, from head to last byte
  int64_t pool_wait_ms = 5'000;  // for a free connection of a capped pool
  int64_t connect_ms = 5'000;    // DNS, TCP and TLS together
  int64_t first_token_ms =
      300'000;  // streams: last byte sent to first token; a thinking model may take minutes
  int64_t silence_ms = 120'000;         // no byte at all from the upstream, once its head has come
  int64_t between_tokens_ms = 300'000;  // no token, though pings may come
  int64_t total_ms = 3'600'000;         // from arrival to the end, all attempts together
  int64_t write_stall_ms = 60'000;      // the client takes no byte
};

// One budget for the whole exchange, whatever the channels.
struct Retry {
  int attempts_max = 3;
  int64_t wait_ms_max = 0;  // how long an exchange may wait for a cooling channel; 0: it does not
};

// What the listening side needs for TLS.
struct TlsFiles {
  std::string certificate;  // PEM chain; empty: plain HTTP
  std::string key;          // PEM
};

// `[gateway]`, with what stands beside it.
struct Options {
  std::string listen_host = "127.0.0.1";
  uint16_t listen_port = 8080;                   // 0: any free port
  int threads = 0;                               // event loops; 0: one per core
  uint64_t body_bytes_max = 32u << 20;           // Anthropic's own limit
  uint64_t body_memory_bytes_max = 1024u << 20;  // all bodies held at once; above it: 503
  uint64_t head_bytes_max = 64u << 10;           // Codex sends 1.4 KB, agents' metadata grows
  int connections_max = 20'000;
  int64_t idle_ms = 75'000;  // a kept-alive client connection without a request
  TlsFiles tls;
  HalfClose client_half_close = HalfClose::kAbort;
  int64_t keepalive_ms = 15'000;  // heartbeat to a streaming client while it waits; 0: none.
                                  // Clients give up after 300 s of silence
  int64_t drain_s = 30;
  std::string admin_token;  // resolved; empty: /api is closed
  Timeouts timeouts;
  Retry retry;
};

}  // namespace hw::gateway
