#include "net/socket.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/text.h"
#include "net/faults.h"
#include "net/poller.h"
#include "net/tls.h"

namespace hw::net {
namespace {

// Data that the peer has not acknowledged for this long ends the connection: a vanished host sends
// nothing, and only this notices it in the middle of a stream.
constexpr unsigned kUserTimeoutMs = 120'000;
constexpr int kKeepAliveIdleS = 60;
constexpr int kKeepAliveIntervalS = 15;
constexpr int kKeepAliveProbes = 4;

IoResult failed(int error) {
  if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
    return {IoState::kWouldBlock, 0, 0, true};
  return {IoState::kError, 0, error, false};
}

}  // namespace

// What the poller knows; outlives its Socket until the end of the round.
struct Socket::Impl final : Pollable {
  Loop& loop;
  const int fd;
  SSL* ssl = nullptr;
  SocketHandler* handler = nullptr;
  TcpInfo info;
  Nanos info_until = 0;
  Readiness ready = 0;  // what is so since the edge that told it; kept until it is used up
  bool read_wanted = false, write_wanted = false, break_wanted = false;  // the handler waits
  // TLS may need the other direction to go on (a handshake, a key update).
  bool read_needs_write = false, write_needs_read = false;

  Impl(Loop& l, int f) : loop(l), fd(f) { loop.poller().add(fd, *this); }
  ~Impl() override {
    if (ssl != nullptr) SSL_free(ssl);
  }

  bool may_tell_read() const {
    if (break_wanted && (ready & kBroken) != 0) return true;
    return read_wanted && (ready & (read_needs_write ? kReadyToWrite : kReadyToRead)) != 0;
  }
  bool may_tell_write() const {
    return write_wanted && (ready & (write_needs_read ? kReadyToRead : kReadyToWrite)) != 0;
  }

  void on_ready(Readiness news) override {
    ready |= news;
    if (handler == nullptr) return;
    // Each call may close the socket: the second one comes in the next round.
    if (may_tell_read()) {
      if (may_tell_write()) loop.poller().again(*this);
      read_wanted = break_wanted = false;
      handler->on_readable();
    } else if (may_tell_write()) {
      write_wanted = false;
      handler->on_writable();
    }
  }

  void want_read() {
    read_wanted = true;
    if (read_needs_write) loop.poller().add_writing(fd, *this);
    if (may_tell_read()) loop.poller().again(*this);
  }

  void want_write() {
    write_wanted = true;
    if (!write_needs_read) loop.poller().add_writing(fd, *this);
    if (may_tell_write()) loop.poller().again(*this);
  }

  // Nothing more can be read until the next edge. After the peer's end there is none.
  void used_up_reading() {
    if ((ready & kPeerEnded) == 0) ready &= static_cast<Readiness>(~kReadyToRead);
  }
  void used_up_writing() { ready &= static_cast<Readiness>(~kReadyToWrite); }

  // What a failed SSL call means; remembers the direction that it needs.
  IoResult tls_result(int returned, bool reading) {
    switch (SSL_get_error(ssl, returned)) {
      case SSL_ERROR_WANT_READ:
        if (!reading) write_needs_read = true;
        used_up_reading();
        return {IoState::kWouldBlock, 0, 0, true};
      case SSL_ERROR_WANT_WRITE:
        if (reading) read_needs_write = true;
        used_up_writing();
        return {IoState::kWouldBlock, 0, 0, true};
      case SSL_ERROR_ZERO_RETURN:
        return {IoState::kEof, 0, 0, false};
      case SSL_ERROR_SYSCALL:
        return errno == 0 ? IoResult{IoState::kEof, 0, 0, false} : failed(errno);
      default:
        return {IoState::kError, 0, 0, false};
    }
  }
};

Socket::Socket(Loop& loop, int fd) : impl_(new Impl(loop, fd)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    impl_ = std::exchange(other.impl_, nullptr);
  }
  return *this;
}

int Socket::fd() const {
  return impl_ == nullptr ? -1 : impl_->fd;
}

void Socket::set_handler(SocketHandler* handler) {
  if (impl_ != nullptr) impl_->handler = handler;
}

void Socket::want_read() {
  HW_ASSERT(impl_ != nullptr);
  impl_->want_read();
}

void Socket::want_write() {
  HW_ASSERT(impl_ != nullptr);
  impl_->want_write();
}

void Socket::want_break() {
  HW_ASSERT(impl_ != nullptr);
  impl_->break_wanted = true;
  if (impl_->may_tell_read()) impl_->loop.poller().again(*impl_);
}

IoResult Socket::read(char* to, size_t size) {
  HW_ASSERT(impl_ != nullptr && size > 0);
  if (fault_due(Operation::kRead)) return failed(ECONNRESET);
  if (impl_->ssl == nullptr) {
    const ssize_t got = ::recv(impl_->fd, to, size, 0);
    if (got == 0) return {IoState::kEof, 0, 0, false};
    const bool drained = got < 0 || static_cast<size_t>(got) < size;
    if (drained) impl_->used_up_reading();
    if (got < 0) return failed(errno);
    return {IoState::kOk, static_cast<size_t>(got), 0, drained};
  }
  impl_->read_needs_write = false;
  ERR_clear_error();
  errno = 0;
  const int got = SSL_read(impl_->ssl, to, static_cast<int>(std::min<size_t>(size, 1u << 30)));
  if (got <= 0) return impl_->tls_result(got, true);
  return {IoState::kOk, static_cast<size_t>(got), 0, false};
}

IoResult Socket::write(std::span<const iovec> pieces) {
  HW_ASSERT(impl_ != nullptr && !pieces.empty());
  if (fault_due(Operation::kWrite)) return failed(ECONNRESET);
  if (impl_->ssl == nullptr) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    const ssize_t put = pieces.size() == 1
                            ? ::send(impl_->fd, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL)
                            : ::sendmsg(impl_->fd, &message, MSG_NOSIGNAL);
    if (put < 0) {
      impl_->used_up_writing();
      return failed(errno);
    }
    return {IoState::kOk, static_cast<size_t>(put), 0, false};
  }
  size_t total = 0;
  for (const iovec& piece : pieces) {
    if (piece.iov_len == 0) continue;
    impl_->write_needs_read = false;
    ERR_clear_error();
    errno = 0;
    const int put = SSL_write(impl_->ssl, piece.iov_base,
                              static_cast<int>(std::min<size_t>(piece.iov_len, 1u << 30)));
    if (put <= 0) {
      const IoResult result = impl_->tls_result(put, false);
      if (result.state == IoState::kWouldBlock && total > 0) break;
      return result;
    }
    total += static_cast<size_t>(put);
    if (static_cast<size_t>(put) < piece.iov_len) break;
  }
  return {total > 0 ? IoState::kOk : IoState::kWouldBlock, total, 0, false};
}

IoResult Socket::write(const char* data, size_t size) {
  const iovec piece{const_cast<char*>(data), size};
  return write(std::span<const iovec>(&piece, 1));
}

bool Socket::quiet() const {
  if (impl_ == nullptr) return false;
  if (impl_->ssl != nullptr && SSL_pending(impl_->ssl) > 0) return false;
  char byte;
  const ssize_t got = ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool is_quiet = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (is_quiet) impl_->used_up_reading();
  return is_quiet;
}

void Socket::start_tls_client(TlsContext& context, const std::string& host) {
  HW_ASSERT(impl_ != nullptr && impl_->ssl == nullptr);
  impl_->ssl = context.open(fd());
  context.prepare_client(impl_->ssl, host);
  SSL_set_connect_state(impl_->ssl);
}

void Socket::start_tls_server(TlsContext& context) {
  HW_ASSERT(impl_ != nullptr && impl_->ssl == nullptr);
  impl_->ssl = context.open(fd());
  SSL_set_accept_state(impl_->ssl);
}

IoState Socket::tls_handshake() {
  HW_ASSERT(impl_ != nullptr && impl_->ssl != nullptr);
  ERR_clear_error();
  errno = 0;
  const int done = SSL_do_handshake(impl_->ssl);
  if (done == 1) {
    impl_->read_needs_write = impl_->write_needs_read = false;
    return IoState::kOk;
  }
  switch (SSL_get_error(impl_->ssl, done)) {
    case SSL_ERROR_WANT_READ:
      impl_->used_up_reading();
      want_read();
      return IoState::kWouldBlock;
    case SSL_ERROR_WANT_WRITE:
      impl_->used_up_writing();
      want_write();
      return IoState::kWouldBlock;
    default:
      return IoState::kError;
  }
}

std::string Socket::tls_error() const {
  if (impl_ == nullptr || impl_->ssl == nullptr) return {};
  const long verified = SSL_get_verify_result(impl_->ssl);
  if (verified != X509_V_OK) {
    return concat("certificate refused: ", X509_verify_cert_error_string(verified));
  }
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "the peer ended the TLS handshake";
}

bool Socket::is_tls() const {
  return impl_ != nullptr && impl_->ssl != nullptr;
}

void Socket::shutdown_write() {
  if (impl_ == nullptr) return;
  if (impl_->ssl != nullptr && SSL_is_init_finished(impl_->ssl)) SSL_shutdown(impl_->ssl);
  ::shutdown(fd(), SHUT_WR);
}

void Socket::close() {
  if (impl_ == nullptr) return;
  std::unique_ptr<Impl> impl(std::exchange(impl_, nullptr));
  impl->handler = nullptr;
  if (impl->ssl != nullptr && SSL_is_init_finished(impl->ssl)) SSL_shutdown(impl->ssl);
  Poller& poller = impl->loop.poller();
  poller.remove(impl->fd, *impl);
  ::close(impl->fd);
  poller.retire(std::move(impl));
}

void Socket::reset() {
  if (impl_ == nullptr) return;
  const linger at_once{1, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

TcpInfo Socket::tcp_info(Nanos now) {
  if (impl_ == nullptr) return {};
  if (impl_->info_until > now) return impl_->info;
  impl_->info_until = now + kTcpInfoAge;
  TcpInfo& out = impl_->info;
  struct tcp_info raw{};
  socklen_t size = sizeof raw;
  if (::getsockopt(fd(), IPPROTO_TCP, TCP_INFO, &raw, &size) != 0) return out;
  out.rtt_us = raw.tcpi_rtt;
  out.retransmits = raw.tcpi_total_retrans;
  out.unacked = raw.tcpi_unacked;
  return out;
}

int Socket::unacknowledged_bytes() const {
  int bytes = 0;
  if (impl_ == nullptr || ::ioctl(fd(), SIOCOUTQ, &bytes) != 0) return 0;
  return bytes;
}

std::string Socket::peer_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (impl_ == nullptr || ::getpeername(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return {};
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&address)->sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr, text, sizeof text);
  }
  return text;
}

std::string Socket::peer() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (impl_ == nullptr || ::getpeername(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return {};
  const std::string host = peer_address();
  if (address.ss_family == AF_INET6) {
    return concat("[", host, "]:", ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port));
  }
  return concat(host, ":", ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port));
}

void set_stream_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveIdleS, sizeof kKeepAliveIdleS);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveIntervalS, sizeof kKeepAliveIntervalS);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeoutMs, sizeof kUserTimeoutMs);
}

}  // namespace hw::net
