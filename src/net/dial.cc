#include "net/dial.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>

#include "base/assert.h"
#include "base/text.h"
#include "net/faults.h"
#include "net/timers.h"

namespace hw::net {
namespace {

// An answer to CONNECT is a status line and a few fields.
constexpr size_t kProxyHeadMax = 8192;

// A literal address is not looked up.
bool is_name(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) != 1 &&
         ::inet_pton(AF_INET6, host.c_str(), &address) != 1;
}

}  // namespace

class Dial::Impl : public std::enable_shared_from_this<Dial::Impl> {
 public:
  Impl(Loop& loop, const DialTarget& target, Event& event, Signals done)
      : loop_(loop), target_(target), event_(event), done_(done), fallback_(*this) {}

  void begin(Resolver& resolver) {
    const bool direct = target_.proxy_host.empty();
    const std::weak_ptr<Impl> weak = weak_from_this();
    resolver.resolve(direct ? target_.host : target_.proxy_host,
                     direct ? target_.port : target_.proxy_port,
                     [weak](const Result<Addresses>& found) {
                       if (const auto self = weak.lock()) self->on_resolved(found);
                     });
  }

  // Nobody waits any more; callbacks under way find everything closed.
  void give_up() {
    abandoned_ = true;
    fallback_.clear();
    tries_.clear();
    chosen_.close();
  }

  bool finished_ = false;
  DialTimes times_;
  std::optional<Error> error_;
  Socket chosen_;

 private:
  // One TCP connect under way.
  struct Try final : SocketHandler {
    Impl& dial;
    Socket socket;
    Try(Impl& d, Socket s) : dial(d), socket(std::move(s)) { socket.set_handler(this); }
    void on_readable() override {}
    void on_writable() override { dial.on_connected(*this); }
  };
  // Talks to the proxy, then shakes hands, on the one socket that connected.
  struct Handshake final : SocketHandler {
    Impl& dial;
    explicit Handshake(Impl& d) : dial(d) {}
    void on_readable() override { dial.go_on(); }
    void on_writable() override { dial.go_on(); }
  };
  struct Fallback final : Deadline {
    Impl& dial;
    explicit Fallback(Impl& d) : Deadline(d.loop_.timers()), dial(d) {}
    void on_deadline() override { dial.try_next(); }
  };

  void on_resolved(const Result<Addresses>& found) {
    if (abandoned_) return;
    if (!found) return finish(found.error());
    if (is_name(target_.proxy_host.empty() ? target_.host : target_.proxy_host)) {
      times_.resolved = monotonic_ns();
    }
    addresses_ = *found;
    try_next();
  }

  void try_next() {
    while (next_ < addresses_.size()) {
      const Address& address = addresses_[next_++];
      const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      if (fd < 0) {
        last_error_ = errno;
        continue;
      }
      set_stream_options(fd);
      Socket socket(loop_, fd);
      const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
      const bool fault = fault_due(Operation::kConnect);
      if (fault) errno = ECONNREFUSED;
      if (fault || (::connect(fd, to, address.size) != 0 && errno != EINPROGRESS)) {
        last_error_ = errno;
        continue;
      }
      tries_.emplace_back(*this, std::move(socket));
      tries_.back().socket.want_write();
      if (next_ < addresses_.size()) fallback_.set(monotonic_ns() + kFallbackDelay);
      return;
    }
    if (tries_.empty()) finish(connect_error());
  }

  void on_connected(Try& attempt) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(attempt.socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      last_error_ = error;
      tries_.remove_if([&](const Try& each) { return &each == &attempt; });
      return try_next();
    }
    fallback_.clear();
    times_.connected = monotonic_ns();
    chosen_ = std::move(attempt.socket);
    tries_.clear();
    chosen_.set_handler(&handshake_);
    if (!target_.proxy_host.empty() && target_.tls != nullptr) {
      compose_connect();
      state_ = State::kProxyWrite;
    } else {
      state_ = target_.tls != nullptr ? State::kStartTls : State::kDone;
    }
    go_on();
  }

  void compose_connect() {
    out_ = concat("CONNECT ", target_.host, ":", target_.port, " HTTP/1.1\r\nHost: ", target_.host,
                  ":", target_.port, "\r\n");
    if (!target_.proxy_authorization.empty()) {
      out_ += concat("Proxy-Authorization: ", target_.proxy_authorization, "\r\n");
    }
    out_ += "\r\n";
  }

  void go_on() {
    if (state_ == State::kProxyWrite && !write_connect()) return;
    if (state_ == State::kProxyRead && !read_connect()) return;
    if (state_ == State::kStartTls) {
      chosen_.start_tls_client(*target_.tls, target_.host);
      state_ = State::kTls;
    }
    if (state_ == State::kTls) {
      const IoState done = chosen_.tls_handshake();
      if (done == IoState::kWouldBlock) return;
      if (done != IoState::kOk) {
        return finish(Error(ErrorCode::kConnect,
                            concat("TLS with ", target_.host, " failed: ", chosen_.tls_error())));
      }
      times_.secured = monotonic_ns();
      state_ = State::kDone;
    }
    if (state_ == State::kDone) finish({});
  }

  // True when the whole CONNECT request is out.
  bool write_connect() {
    const IoResult put = chosen_.write(out_.data(), out_.size());
    if (put.state == IoState::kOk) out_.erase(0, put.bytes);
    if (put.state == IoState::kOk || put.state == IoState::kWouldBlock) {
      if (!out_.empty()) {
        chosen_.want_write();
        return false;
      }
      state_ = State::kProxyRead;
      return true;
    }
    finish(Error(ErrorCode::kConnect,
                 concat("the proxy ", target_.proxy_host, " closed the connection")));
    return false;
  }

  // True when the proxy has agreed. Reads byte by byte, so that no byte of the tunnel is taken.
  bool read_connect() {
    for (;;) {
      char byte;
      const IoResult got = chosen_.read(&byte, 1);
      if (got.state == IoState::kWouldBlock) {
        chosen_.want_read();
        return false;
      }
      if (got.state != IoState::kOk || in_.size() > kProxyHeadMax) {
        finish(Error(ErrorCode::kConnect,
                     concat("the proxy ", target_.proxy_host, " gave no answer to CONNECT")));
        return false;
      }
      in_ += byte;
      if (in_.size() < 4 || in_.compare(in_.size() - 4, 4, "\r\n\r\n") != 0) continue;
      if (in_.compare(0, 5, "HTTP/") == 0 && in_.find(" 2") == 8) {
        state_ = State::kStartTls;
        return true;
      }
      finish(Error(ErrorCode::kConnect, concat("the proxy ", target_.proxy_host, " refused: ",
                                               std::string_view(in_).substr(0, in_.find('\r')))));
      return false;
    }
  }

  Error connect_error() const {
    return Error(
        ErrorCode::kConnect,
        concat("cannot connect to ", target_.proxy_host.empty() ? target_.host : target_.proxy_host,
               ":", target_.proxy_host.empty() ? target_.port : target_.proxy_port, ": ",
               std::strerror(last_error_)));
  }

  void finish(std::optional<Error> error) {
    if (finished_) return;
    finished_ = true;
    fallback_.clear();
    chosen_.set_handler(nullptr);
    if (error) {
      chosen_.close();
      tries_.clear();
    }
    error_ = std::move(error);
    event_.raise(done_);
  }

  enum class State : uint8_t { kTcp, kProxyWrite, kProxyRead, kStartTls, kTls, kDone };

  Loop& loop_;
  const DialTarget target_;
  Event& event_;
  const Signals done_;
  Addresses addresses_;
  size_t next_ = 0;
  int last_error_ = 0;
  bool abandoned_ = false;
  State state_ = State::kTcp;
  std::list<Try> tries_;
  Handshake handshake_{*this};
  Fallback fallback_;
  std::string out_, in_;
};

Dial::Dial(Loop& loop, Resolver& resolver, const DialTarget& target, Event& event, Signals done)
    : impl_(std::make_shared<Impl>(loop, target, event, done)) {
  impl_->begin(resolver);
}

Dial::~Dial() {
  impl_->give_up();
}

bool Dial::finished() const {
  return impl_->finished_;
}
DialTimes Dial::times() const {
  return impl_->times_;
}

Result<Socket> Dial::take() {
  HW_ASSERT(impl_->finished_);
  if (impl_->error_) return fail(*impl_->error_);
  return std::move(impl_->chosen_);
}

}  // namespace hw::net
