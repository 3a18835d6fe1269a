// Socket: a connected TCP stream, plain or TLS, that never blocks. Reads and writes are tried at
// once; readiness comes back through a handler.
//
// The normal flow: try read(); on kWouldBlock call want_read() and return to the loop; when
// on_readable() comes, try again. One owner closes it. All calls on its loop's thread.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "net/loop.h"

namespace hw::net {

class TlsContext;

// Receives a socket's readiness. Each call may destroy the socket.
class SocketHandler {
 public:
  virtual void on_readable() = 0;
  virtual void on_writable() = 0;

 protected:
  ~SocketHandler() = default;
};

// What a read or a write came to.
enum class IoState : uint8_t {
  kOk,          // some bytes moved
  kWouldBlock,  // none could; wait for readiness
  kEof,         // the peer ended its side cleanly (TCP FIN; for TLS also close_notify)
  kError,       // the connection is broken; IoResult::error is the errno, 0 for a TLS failure
};

// The same with how many bytes moved.
struct IoResult {
  IoState state = IoState::kError;
  size_t bytes = 0;
  int error = 0;
  bool drained = false;  // reading: the kernel had no more, so the next read would block
};

// What TCP_INFO says of the connection now; -1 where the kernel does not tell.
struct TcpInfo {
  int64_t rtt_us = -1;
  int64_t retransmits = -1;
  int64_t unacked = -1;
};

class Socket {
 public:
  Socket() = default;
  // Takes ownership of a non-blocking, connected or connecting descriptor.
  Socket(Loop& loop, int fd);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept;

  // Not moved from and not closed.
  bool is_open() const { return impl_ != nullptr; }
  // The descriptor; -1 when closed.
  int fd() const;

  // Who hears of readiness from now on; null: nobody (readiness that comes is kept for the next).
  void set_handler(SocketHandler* handler);
  // Asks for one on_readable() when bytes, an end or an error can be read. Asking again is free.
  void want_read();
  // After an end of the peer was read the socket stays readable for ever: this asks for one
  // on_readable() when the connection breaks (a reset), and only then.
  void want_break();
  // Asks for one on_writable().
  void want_write();

  // Reads up to `size` bytes into `to`; size must be above 0.
  IoResult read(char* to, size_t size);
  // Writes from up to 16 pieces in order; may take only a part.
  IoResult write(std::span<const iovec> pieces);
  IoResult write(const char* data, size_t size);
  // True when no byte and no end of the peer is waiting: an idle pooled connection must be so.
  bool quiet() const;

  // Puts TLS on the connected socket. As a client, `host` is verified against the certificate and
  // sent as SNI. Then call tls_handshake() until it says kOk.
  void start_tls_client(TlsContext& context, const std::string& host);
  void start_tls_server(TlsContext& context);
  // Goes on with the handshake: kOk done; kWouldBlock after asking for the readiness it needs;
  // kError with the reason in tls_error().
  IoState tls_handshake();
  // What OpenSSL or the verification said last.
  std::string tls_error() const;
  bool is_tls() const;

  // Sends FIN after what was written; the reading side stays open.
  void shutdown_write();
  // Closes at once. With unread bytes in the kernel the peer sees a reset.
  void close();
  // Closes so that the peer sees a reset.
  void reset();

  // Asks the kernel at most every kTcpInfoAge at `now`; in between it gives what was told last.
  TcpInfo tcp_info(Nanos now);
  static constexpr Nanos kTcpInfoAge = 100 * kMillisecond;
  // Bytes that were written and that the peer's kernel has not acknowledged; 0 where unknown.
  int unacknowledged_bytes() const;
  // "127.0.0.1:4711" of the peer; empty when unknown.
  std::string peer() const;
  std::string peer_address() const;  // without the port

 private:
  struct Impl;
  Impl* impl_ = nullptr;
};

// TCP_NODELAY, keep-alive and TCP_USER_TIMEOUT: what every connection of ours has set.
void set_stream_options(int fd);

}  // namespace hw::net
