#include "probe/exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "http/head.h"
#include "http/response_reader.h"
#include "net/blocking_pool.h"
#include "net/dial.h"
#include "net/event.h"
#include "net/loop.h"
#include "net/timers.h"
#include "probe/stream_trace.h"

namespace hw::probe {
namespace {

constexpr net::Signals kResolved = 1 << 0;
constexpr net::Signals kDialled = 1 << 1;
constexpr net::Signals kReadable = 1 << 2;
constexpr net::Signals kWritable = 1 << 3;
constexpr net::Signals kDeadline = 1 << 4;

constexpr size_t kRawBytesKept = 400;
// How long a stream may stay open behind its final event before that counts as its end.
constexpr Nanos kLingerNs = 500 * kMillisecond;

class TimeLimit final : public net::Deadline {
 public:
  TimeLimit(net::Timers& timers, net::Event& event) : net::Deadline(timers), event_(event) {}

 protected:
  void on_deadline() override { event_.raise(kDeadline); }

 private:
  net::Event& event_;
};

std::string text_of(const net::Address& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* bytes = &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
  if (address.family() == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  }
  ::inet_ntop(address.family(), bytes, text, sizeof text);
  return text;
}

// What ends a header line or is forbidden in it (RFC 9110 §5.5); no client sends it.
bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

// The exchange's life on a loop that exists for nothing else.
class Run final : private net::SocketHandler {
 public:
  Run(const Request& request, const ProxyChoice& proxy, const ExchangeLimits& limits)
      : request_(request),
        proxy_(proxy),
        limits_(limits),
        through_proxy_(proxy.kind == ProxyChoice::Kind::kHttp),
        began_(monotonic_ns()),
        loop_(0),
        pool_(1),
        resolver_(loop_, pool_),
        event_(loop_),
        limit_(loop_.timers(), event_),
        reader_(head_limits_, request.method) {
    out_.method = request.method;
    out_.url = origin_of(request.url) + request.target;
    out_.dialect = request.dialect;
    out_.streamed = request.streamed;
    out_.through_proxy = through_proxy_;
    out_.key_header = request.key_header;
    out_.max_tokens = request.max_tokens;
  }

  Exchange run() {
    if (has_control(request_.key)) {
      out_.failure = Failure::kUnsendable;
      return std::move(out_);
    }
    loop_.spawn(perform());
    loop_.run();
    if (trace_ != nullptr) trace_->finish();
    out_.times.ended = now();
    return std::move(out_);
  }

 private:
  void on_readable() override { event_.raise(kReadable); }
  void on_writable() override { event_.raise(kWritable); }
  Nanos now() const { return monotonic_ns() - began_; }

  net::Task<void> perform() {
    limit_.set(began_ + limits_.connect_ns);
    bool going = co_await resolve();
    if (going) going = co_await connect();
    if (going) going = co_await send();
    if (going) co_await receive();
    socket_.close();
    loop_.stop();
  }

  net::Task<bool> resolve() {
    const std::string& host = through_proxy_ ? proxy_.host : request_.url.host;
    const uint16_t port = through_proxy_ ? proxy_.port : request_.url.port;
    resolver_.resolve(host, port, [this](const Result<net::Addresses>& found) {
      resolved_ = found;
      event_.raise(kResolved);
    });
    const net::Signals raised = co_await event_.wait(kResolved | kDeadline);
    if ((raised & kDeadline) != 0) co_return failed(Failure::kTimeout, "");
    if (!resolved_.has_value()) {
      std::string words = resolved_.error().message;
      const std::string before = concat("cannot resolve ", host, ": ");
      if (words.starts_with(before)) words.erase(0, before.size());
      co_return failed(Failure::kDns, words);
    }
    out_.times.resolved = now();
    for (const net::Address& address : *resolved_) out_.addresses.push_back(text_of(address));
    co_return true;
  }

  net::Task<bool> connect() {
    if (request_.url.tls) {
      Result<std::unique_ptr<net::TlsContext>> tls = net::TlsContext::client("");
      if (!tls.has_value()) co_return failed(Failure::kTls, tls.error().message);
      tls_ = std::move(*tls);
    }
    net::DialTarget target;
    target.host = request_.url.host, target.port = request_.url.port, target.tls = tls_.get();
    if (through_proxy_) {
      target.proxy_host = proxy_.host, target.proxy_port = proxy_.port;
      target.proxy_authorization = proxy_.authorization;
    }
    net::Dial dial(loop_, resolver_, target, event_, kDialled);
    bool late = false;
    if (!dial.finished()) {
      const net::Signals raised = co_await event_.wait(kDialled | kDeadline);
      late = (raised & kDialled) == 0;
    }
    const net::DialTimes times = dial.times();
    if (times.connected >= 0) out_.times.connected = times.connected - began_;
    if (times.secured >= 0) out_.times.secured = times.secured - began_;
    if (late) co_return failed(Failure::kTimeout, "");
    Result<net::Socket> socket = dial.take();
    if (!socket.has_value()) co_return dial_failed(socket.error().message);
    socket_ = std::move(*socket);
    socket_.set_handler(this);
    out_.peer = socket_.peer();
    co_return true;
  }

  bool dial_failed(const std::string& words) {
    if (out_.times.connected < 0) {
      const size_t reason = words.rfind(": ");
      return failed(Failure::kConnect,
                    reason == std::string::npos ? words : words.substr(reason + 2));
    }
    const std::string before = concat("TLS with ", request_.url.host, " failed: ");
    if (!words.starts_with(before)) return failed(Failure::kTunnel, words);
    return failed(Failure::kTls, words.substr(before.size()));
  }

  net::Task<bool> send() {
    const bool absolute = through_proxy_ && !request_.url.tls;
    const std::string bytes =
        compose_head(request_, absolute ? HeadForm::kAbsolute : HeadForm::kOrigin,
                     absolute ? std::string_view(proxy_.authorization) : std::string_view()) +
        request_.body;
    size_t sent = 0;
    while (sent < bytes.size()) {
      const net::IoResult io = socket_.write(bytes.data() + sent, bytes.size() - sent);
      sent += io.bytes;
      if (io.state == net::IoState::kOk) continue;
      if (io.state != net::IoState::kWouldBlock) co_return failed(Failure::kClosed, "");
      socket_.want_write();
      const net::Signals raised = co_await event_.wait(kWritable | kDeadline);
      if ((raised & kDeadline) != 0) co_return failed(Failure::kTimeout, "");
    }
    out_.times.sent = now();
    co_return true;
  }

  net::Task<void> receive() {
    std::string block(65'536, '\0');
    for (;;) {
      arm();
      const net::IoResult io = socket_.read(block.data(), block.size());
      if (io.state == net::IoState::kOk) {
        if (!take(std::string_view(block).substr(0, io.bytes), now())) co_return;
        continue;
      }
      if (io.state != net::IoState::kWouldBlock) {
        end_of_connection(io.state == net::IoState::kEof);
        co_return;
      }
      socket_.want_read();
      const net::Signals raised = co_await event_.wait(kReadable | kDeadline);
      if ((raised & kReadable) == 0) {
        // A server that keeps the connection open behind the final event has answered.
        const bool answered = trace_ != nullptr && trace_->terminal_seen();
        if (!answered) failed(Failure::kTimeout, "");
        co_return;
      }
    }
  }

  void arm() {
    const bool lingering = trace_ != nullptr && trace_->terminal_seen();
    const Nanos silence = monotonic_ns() + (lingering ? kLingerNs : limits_.silence_ns);
    limit_.set(std::min(silence, began_ + limits_.total_ns));
  }

  void end_of_connection(bool clean) {
    if (clean && out_.status != 0 && reader_.end_of_input()) return;
    if (out_.status == 0) {
      failed(out_.raw_start.empty() ? Failure::kClosed : Failure::kNotHttp,
             clean ? "" : "connection reset");
      return;
    }
    failed(Failure::kCut, clean ? "" : "connection reset");
  }

  // False when the exchange is over.
  bool take(std::string_view rest, Nanos at) {
    if (out_.status == 0 && out_.raw_start.size() < kRawBytesKept) {
      out_.raw_start.append(rest.substr(0, kRawBytesKept - out_.raw_start.size()));
    }
    body_of_read_.clear();
    const bool going = take_apart(rest, at);
    if (trace_ != nullptr && !trace_->take(body_of_read_, at)) {
      return failed(Failure::kTooLarge, "");
    }
    return going;
  }

  bool take_apart(std::string_view rest, Nanos at) {
    for (;;) {
      const Result<http::ResponseReader::Step> step = reader_.next(rest, head_);
      if (!step.has_value()) {
        return failed(out_.status == 0 ? Failure::kNotHttp : Failure::kCut, step.error().message);
      }
      switch (step->kind) {
        case http::ResponseReader::Kind::kMore:
          return true;
        case http::ResponseReader::Kind::kEnd:
          out_.kept_alive = reader_.reusable();
          return false;
        case http::ResponseReader::Kind::kHead:
          keep_head(at);
          break;
        case http::ResponseReader::Kind::kBody:
          body_of_read_ += step->body;
          break;
      }
    }
  }

  void keep_head(Nanos at) {
    out_.status = head_.status;
    out_.times.head = at;
    out_.raw_start.clear();
    for (const http::Field& field : head_.fields) {
      if (out_.headers.size() >= kHeadersKept) break;
      std::string name(field.name);
      std::transform(name.begin(), name.end(), name.begin(), lower);
      out_.headers.emplace_back(std::move(name), std::string(field.value));
    }
    trace_ = std::make_unique<StreamTrace>(out_);
  }

  bool failed(Failure failure, std::string words) {
    out_.failure = failure;
    out_.failure_words = std::move(words);
    return false;
  }

  const Request& request_;
  const ProxyChoice& proxy_;
  const ExchangeLimits limits_;
  const bool through_proxy_;
  const Nanos began_;
  const http::HeadLimits head_limits_;
  net::Loop loop_;
  net::BlockingPool pool_;
  net::Resolver resolver_;
  net::Event event_;
  TimeLimit limit_;
  Result<net::Addresses> resolved_;
  std::unique_ptr<net::TlsContext> tls_;
  net::Socket socket_;
  http::ResponseReader reader_;
  http::ResponseHead head_;
  std::string body_of_read_;
  std::unique_ptr<StreamTrace> trace_;
  Exchange out_;
};

}  // namespace

Exchange perform(const Request& request, const ProxyChoice& proxy, const ExchangeLimits& limits) {
  return Run(request, proxy, limits).run();
}

}  // namespace hw::probe
