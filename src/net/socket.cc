#include "net/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/text.h"
#include "net/faults.h"
#include "net/tls.h"

namespace hw::net {
namespace {

using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;

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

// Shared by the Socket and its pending waits, so that a wait that ends after close() finds it.
struct Socket::Impl {
  Loop& loop;
  Descriptor descriptor;
  SSL* ssl = nullptr;
  SocketHandler* handler = nullptr;
  int references = 1;
  bool read_pending = false, write_pending = false;  // a wait is in the reactor
  bool break_pending = false;
  TcpInfo info;
  Nanos info_until = 0;
  bool read_wanted = false, write_wanted = false;  // the handler asked for a call
  // TLS may need the other direction to go on (a handshake, a key update).
  bool read_needs_write = false, write_needs_read = false;

  Impl(Loop& l, int fd) : loop(l), descriptor(l.executor(), fd) {}
  ~Impl() {
    if (ssl != nullptr) SSL_free(ssl);
  }
  void release() {
    if (--references == 0) delete this;
  }

  // Keeps the Impl alive for a wait, whether that is completed or dropped with its loop.
  class Reference {
   public:
    explicit Reference(Impl* impl) : impl_(impl) { ++impl->references; }
    Reference(Reference&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
    Reference& operator=(Reference&&) = delete;
    ~Reference() {
      if (impl_ != nullptr) impl_->release();
    }
    Impl* operator->() const { return impl_; }

   private:
    Impl* impl_;
  };

  // The completion of a wait; a plain struct, so that Asio recycles its memory.
  template <bool kRead>
  struct Ready {
    Reference impl;
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return impl->loop.executor(); }
    void operator()(const boost::system::error_code& error) {
      impl->template on_ready<kRead>(static_cast<bool>(error));
    }
  };

  struct Broken {
    Reference impl;
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return impl->loop.executor(); }
    void operator()(const boost::system::error_code& error) {
      impl->break_pending = false;
      impl->read_wanted = true;
      impl->template finish_wait<true>(static_cast<bool>(error));
    }
  };

  void arm_break() {
    if (break_pending) return;
    break_pending = true;
    Broken broken{Reference(this)};
    descriptor.async_wait(Descriptor::wait_error, std::move(broken));
  }

  template <bool kRead>
  void arm() {
    bool& pending = kRead ? read_pending : write_pending;
    if (pending) return;
    pending = true;
    Ready<kRead> ready{Reference(this)};
    descriptor.async_wait(kRead ? Descriptor::wait_read : Descriptor::wait_write, std::move(ready));
  }

  template <bool kRead>
  void on_ready(bool cancelled) {
    (kRead ? read_pending : write_pending) = false;
    finish_wait<kRead>(cancelled);
  }

  // The end of every wait: tells the handler.
  template <bool kRead>
  void finish_wait(bool cancelled) {
    if (cancelled || !descriptor.is_open()) return;
    Loop& on = loop;
    on.enter();
    deliver<kRead>(handler);
    on.leave();
  }

  // The handler's call may close the socket; the wait's reference keeps this object until then.
  template <bool kRead>
  void deliver(SocketHandler* to_tell) {
    if (to_tell == nullptr) return;
    const bool other = kRead ? write_wanted && write_needs_read : read_wanted && read_needs_write;
    const bool mine = kRead ? read_wanted : write_wanted;
    if (other) {
      if (mine) arm<kRead>();  // this readiness serves the other direction; ask again for ours
      (kRead ? write_wanted : read_wanted) = false;
      kRead ? to_tell->on_writable() : to_tell->on_readable();
      return;
    }
    if (!mine) return;
    (kRead ? read_wanted : write_wanted) = false;
    kRead ? to_tell->on_readable() : to_tell->on_writable();
  }

  // What a failed SSL call means; remembers the direction that it needs.
  IoResult tls_result(int returned, bool reading) {
    switch (SSL_get_error(ssl, returned)) {
      case SSL_ERROR_WANT_READ:
        if (!reading) write_needs_read = true;
        return {IoState::kWouldBlock, 0, 0, true};
      case SSL_ERROR_WANT_WRITE:
        if (reading) read_needs_write = true;
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
  return impl_ == nullptr ? -1 : impl_->descriptor.native_handle();
}

void Socket::set_handler(SocketHandler* handler) {
  if (impl_ != nullptr) impl_->handler = handler;
}

void Socket::want_read() {
  HW_ASSERT(impl_ != nullptr);
  impl_->read_wanted = true;
  if (impl_->read_needs_write) {
    impl_->arm<false>();
  } else {
    impl_->arm<true>();
  }
}

void Socket::want_write() {
  HW_ASSERT(impl_ != nullptr);
  impl_->write_wanted = true;
  if (impl_->write_needs_read) {
    impl_->arm<true>();
  } else {
    impl_->arm<false>();
  }
}

void Socket::want_break() {
  HW_ASSERT(impl_ != nullptr);
  impl_->arm_break();
}

IoResult Socket::read(char* to, size_t size) {
  HW_ASSERT(impl_ != nullptr && size > 0);
  if (fault_due(Operation::kRead)) return failed(ECONNRESET);
  if (impl_->ssl == nullptr) {
    const ssize_t got = ::recv(fd(), to, size, 0);
    if (got < 0) return failed(errno);
    if (got == 0) return {IoState::kEof, 0, 0, false};
    return {IoState::kOk, static_cast<size_t>(got), 0, static_cast<size_t>(got) < size};
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
                            ? ::send(fd(), pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL)
                            : ::sendmsg(fd(), &message, MSG_NOSIGNAL);
    if (put < 0) return failed(errno);
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
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
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
      want_read();
      return IoState::kWouldBlock;
    case SSL_ERROR_WANT_WRITE:
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
  Impl* impl = std::exchange(impl_, nullptr);
  impl->handler = nullptr;
  boost::system::error_code ignored;
  if (impl->ssl != nullptr && SSL_is_init_finished(impl->ssl)) SSL_shutdown(impl->ssl);
  impl->descriptor.close(ignored);
  impl->release();
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
