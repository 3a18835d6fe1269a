#include "app/http_request.h"

#include <optional>

#include "base/text.h"
#include "http/head.h"
#include "http/response_reader.h"
#include "net/blocking_pool.h"
#include "net/dial.h"
#include "net/event.h"
#include "net/loop.h"
#include "net/timers.h"

namespace hw::app {
namespace {

constexpr net::Signals kDialled = 1 << 0;
constexpr net::Signals kReadable = 1 << 1;
constexpr net::Signals kWritable = 1 << 2;
constexpr net::Signals kDeadline = 1 << 3;

class TimeLimit final : public net::Deadline {
 public:
  TimeLimit(net::Timers& timers, net::Event& event) : net::Deadline(timers), event_(event) {}

 protected:
  void on_deadline() override { event_.raise(kDeadline); }

 private:
  net::Event& event_;
};

// The request's life on a loop that exists for nothing else.
class Request final : private net::SocketHandler {
 public:
  Request(const Url& url, const HttpRequest& asked)
      : url_(url),
        asked_(asked),
        loop_(0),
        pool_(1),
        resolver_(loop_, pool_),
        event_(loop_),
        limit_(loop_.timers(), event_),
        reader_(limits_, asked_.method) {}

  Result<HttpAnswer> run() {
    for (const auto& [name, value] : asked_.headers) {
      if (http::is_token(name) && http::is_field_value(value)) continue;
      return fail(ErrorCode::kBadRequest, concat("the value of ", name, " cannot be sent"));
    }
    limit_.set(monotonic_ns() + asked_.timeout_ns);
    loop_.spawn(perform());
    loop_.run();
    if (error_.has_value()) return fail(*error_);
    return std::move(answer_);
  }

 private:
  void on_readable() override { event_.raise(kReadable); }
  void on_writable() override { event_.raise(kWritable); }

  net::Task<void> perform() {
    const bool connected = co_await connect();
    bool going = connected;
    if (going) going = co_await send();
    if (going) co_await receive();
    socket_.close();
    loop_.stop();
  }

  net::Task<bool> connect() {
    if (url_.tls) {
      Result<std::unique_ptr<net::TlsContext>> tls = net::TlsContext::client("");
      if (!tls.has_value()) co_return fail_with(tls.error().code, tls.error().message);
      tls_ = std::move(*tls);
    }
    net::DialTarget target;
    target.host = url_.host, target.port = url_.port, target.tls = tls_.get();
    net::Dial dial(loop_, resolver_, target, event_, kDialled);
    if (!dial.finished()) {
      const net::Signals raised = co_await event_.wait(kDialled | kDeadline);
      if ((raised & kDeadline) != 0) co_return timed_out();
    }
    Result<net::Socket> socket = dial.take();
    if (!socket.has_value()) co_return fail_with(socket.error().code, socket.error().message);
    socket_ = std::move(*socket);
    socket_.set_handler(this);
    co_return true;
  }

  net::Task<bool> send() {
    const std::string bytes = head() + asked_.body;
    size_t sent = 0;
    while (sent < bytes.size()) {
      const net::IoResult io = socket_.write(bytes.data() + sent, bytes.size() - sent);
      sent += io.bytes;
      if (io.state == net::IoState::kOk) continue;
      if (io.state != net::IoState::kWouldBlock) co_return broken();
      socket_.want_write();
      const net::Signals raised = co_await event_.wait(kWritable | kDeadline);
      if ((raised & kDeadline) != 0) co_return timed_out();
    }
    co_return true;
  }

  net::Task<bool> receive() {
    std::string block(65'536, '\0');
    for (;;) {
      const net::IoResult io = socket_.read(block.data(), block.size());
      switch (io.state) {
        case net::IoState::kOk:
          if (!take(std::string_view(block).substr(0, io.bytes))) co_return false;
          if (reader_.done()) co_return true;
          continue;
        case net::IoState::kEof:
          if (reader_.end_of_input()) co_return true;
          co_return broken();
        case net::IoState::kError:
          co_return broken();
        case net::IoState::kWouldBlock:
          break;
      }
      socket_.want_read();
      const net::Signals raised = co_await event_.wait(kReadable | kDeadline);
      if ((raised & kDeadline) != 0) co_return timed_out();
    }
  }

  bool take(std::string_view rest) {
    for (;;) {
      const Result<http::ResponseReader::Step> step = reader_.next(rest, head_);
      if (!step.has_value()) return fail_with(step.error().code, step.error().message);
      switch (step->kind) {
        case http::ResponseReader::Kind::kMore:
        case http::ResponseReader::Kind::kEnd:
          return true;
        case http::ResponseReader::Kind::kHead:
          answer_.status = head_.status;
          break;
        case http::ResponseReader::Kind::kBody:
          answer_.body += step->body;
          if (answer_.body.size() > kAnswerBytesMax) {
            return fail_with(ErrorCode::kUpstreamProtocol, "the answer is too long");
          }
          break;
      }
    }
  }

  std::string head() const {
    const bool v6 = url_.host.find(':') != std::string::npos;
    std::string out =
        concat(asked_.method, " ", asked_.target, " HTTP/1.1\r\nHost: ", v6 ? "[" : "", url_.host,
               v6 ? "]" : "", ":", url_.port, "\r\nConnection: close\r\n");
    for (const auto& [name, value] : asked_.headers) out += concat(name, ": ", value, "\r\n");
    if (!asked_.body.empty()) out += concat("Content-Length: ", asked_.body.size(), "\r\n");
    return out + "\r\n";
  }

  bool fail_with(ErrorCode code, std::string message) {
    error_ = Error(code, std::move(message));
    return false;
  }
  bool timed_out() { return fail_with(ErrorCode::kTimeoutTotal, "no answer in time"); }
  bool broken() {
    return fail_with(ErrorCode::kUpstreamBroken,
                     "the connection broke before the answer was complete");
  }

  const Url& url_;
  const HttpRequest& asked_;
  const http::HeadLimits limits_;
  net::Loop loop_;
  net::BlockingPool pool_;
  net::Resolver resolver_;
  net::Event event_;
  TimeLimit limit_;
  std::unique_ptr<net::TlsContext> tls_;
  net::Socket socket_;
  http::ResponseReader reader_;
  http::ResponseHead head_;
  HttpAnswer answer_;
  std::optional<Error> error_;
};

}  // namespace

Result<Url> parse_url(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::kBadRequest, concat("\"", text, "\": ", why));
  };
  Url out;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    out.tls = true, out.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return bad("expected http://host:port or https://host");
  }
  for (const char c : rest) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return bad("has a blank in it");
  }
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  out.path = std::string(rest.substr(slash, rest.find_first_of("?#") - slash));
  while (out.path.ends_with('/')) out.path.pop_back();
  if (authority.find('@') != std::string_view::npos) return bad("carries a user");
  const size_t colon = authority.rfind(':');
  const bool v6 = authority.starts_with('[');
  const size_t close = authority.find(']');
  if (v6 && close == std::string_view::npos) return bad("'[' without ']'");
  if (colon != std::string_view::npos && (!v6 || colon > close)) {
    if (!parse_number(authority.substr(colon + 1), out.port) || out.port == 0) {
      return bad("has no valid port");
    }
    authority = authority.substr(0, colon);
  }
  out.host = std::string(v6 ? authority.substr(1, close - 1) : authority);
  if (out.host.empty()) return bad("names no host");
  return out;
}

Result<HttpAnswer> http_request(const Url& url, const HttpRequest& request) {
  return Request(url, request).run();
}

}  // namespace hw::app
