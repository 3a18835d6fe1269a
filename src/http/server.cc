#include "http/server.h"

#include <unistd.h>

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::http {
namespace {

// What may be large is read here first, so that no buffer is larger than what came. One per thread.
constexpr size_t kScratchBytes = 64 * 1024;
// Less room than this is not worth a read of its own.
constexpr size_t kDirectBytesMin = 2048;
// Bytes that may wait behind a running exchange. Beyond that the connection is not read any more
// and a client that leaves could not be noticed: it is closed.
constexpr size_t kPipelinedMax = 64 * 1024;
// How long and how much is read after a refusal, so that the client can read it before a reset.
constexpr int64_t kLingerMs = 1'000;
constexpr size_t kLingerBytes = 1 << 20;
constexpr size_t kSpareHeads = 64;
// How long a client that there is no place for may take to say what it wants.
constexpr int64_t kTurnAwayMs = 1'000;

constexpr std::string_view kShuttingDown = "The gateway is shutting down; send the request again";

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

char* scratch() {
  static thread_local const std::unique_ptr<char[]> bytes(new char[kScratchBytes]);
  return bytes.get();
}

Nanos after_ms(const net::Loop& loop, int64_t ms) {
  return ms == 0 ? net::Deadline::kNever : loop.now() + ms * kMillisecond;
}

}  // namespace

ServerConnection::ClientDeadline::ClientDeadline(ServerConnection& c)
    : Deadline(c.loop().timers()), connection(c) {}

ServerConnection::ServerConnection(Server& server, net::Socket socket, Place place)
    : server_(server),
      socket_(std::move(socket)),
      event_(server.loop_),
      deadline_(*this),
      peer_address_(socket_.peer_address()),
      place_(place) {
  socket_.set_handler(this);
  server_.enlist(*this);
}

ServerConnection::~ServerConnection() {
  server_.strike(*this);
}

net::Loop& ServerConnection::loop() {
  return server_.loop_;
}

bool ServerConnection::told_to_end() const {
  return server_.ending_;
}

// --- the connection's life ---------------------------------------------------------------------

net::Task<void> ServerConnection::run() {
  bool open = true;
  if (server_.tls_ != nullptr) open = co_await shake_hands();
  if (open && place_ == Place::kTaken) co_await serve_all();
  if (open && place_ == Place::kNone) co_await turn_away();
  deadline_.clear();
  if (gone_) {
    socket_.close();
    co_return;
  }
  if (phase_ != Phase::kIdle) co_await linger();
  socket_.close();
}

net::Task<void> ServerConnection::serve_all() {
  while (keep_alive_) {
    const bool complete = co_await next_head();
    if (!complete) co_return;
    begin_exchange();
    co_await server_.handler_.serve(*this, *head_);
    end_exchange();
    if (gone_) co_return;
  }
}

// Waits for what the client asks, so that the answer is in its dialect, but not for long.
net::Task<void> ServerConnection::turn_away() {
  co_await next_head();
  if (gone_ || !keep_alive_) co_return;
  const Error full(ErrorCode::kOverloaded,
                   "The gateway has as many client connections as it may (connections_max). Try "
                   "again in a moment");
  co_await refuse(full);
}

net::Task<bool> ServerConnection::shake_hands() {
  socket_.start_tls_server(*server_.tls_);
  const int64_t head_ms = server_.handler_.options().head_ms;
  deadline_.set(after_ms(loop(), place_ == Place::kTaken ? head_ms : kTurnAwayMs));
  for (;;) {
    const net::IoState done = socket_.tls_handshake();
    if (done == net::IoState::kOk) co_return true;
    if (done != net::IoState::kWouldBlock) co_return false;
    const net::Signals got = co_await event_.wait(kReadable | kWritable | kGone | kDeadline);
    if ((got & (kGone | kDeadline)) != 0) co_return false;
  }
}

// Reads until a head is complete. False: nothing more comes, or the head was refused.
net::Task<bool> ServerConnection::next_head() {
  const ServerOptions& options = server_.handler_.options();
  // On a kept connection a wait is armed already: reading before it fires would only find nothing.
  bool read_first = bytes_read_ == 0 || socket_.is_tls();
  scanner_.reset();
  deadline_.set(after_ms(loop(), place_ == Place::kTaken ? options.idle_ms : kTurnAwayMs));
  if (!in_.empty()) stamp_arrival();
  for (;;) {
    if (!in_.empty()) {
      const Result<bool> complete = parse_head();
      if (!complete) {
        co_await refuse(complete.error());
        co_return false;
      }
      if (*complete) co_return true;
    }
    if (read_first) {
      const Got got = read_some(in_, kScratchBytes);
      if (got == Got::kEnd) co_return false;
      read_first = got == Got::kBytes && !drained_;
      if (got == Got::kBytes) continue;
    }
    // A new connection is still heard, so that it is told why it is not served.
    if (server_.draining_ && in_.empty() && bytes_read_ > 0) co_return false;
    watch_readable();
    constexpr net::Signals kNews = kReadable | kGone | kDeadline;
    if (event_.pending(kNews) == 0) {
      auto suspension = event_.suspend(kNews);
      co_await std::move(suspension);
    }
    const net::Signals signals = event_.take(kNews);
    read_first = (signals & kReadable) != 0;
    if ((signals & kGone) != 0) co_return false;
    if (read_first) continue;
    if (phase_ == Phase::kIdle || place_ == Place::kNone) co_return false;
    const Error late = late_head();
    co_await refuse(late);
    co_return false;
  }
}

Error ServerConnection::late_head() const {
  if (told_to_end()) return Error(ErrorCode::kDraining, std::string(kShuttingDown));
  return Error(ErrorCode::kTimeoutHead,
               concat("the request head was not complete within ",
                      server_.handler_.options().head_ms, " ms of its first byte (head_ms)"));
}

Error ServerConnection::late_body() const {
  if (told_to_end()) return Error(ErrorCode::kDraining, std::string(kShuttingDown));
  return Error(ErrorCode::kTimeoutBody,
               concat("the request body was not complete within ",
                      (body_until_ - head_read_) / kMillisecond, " ms of its head (body_ms)"));
}

// Looks at what is there; true when the head is whole.
Result<bool> ServerConnection::parse_head() {
  const ServerOptions& options = server_.handler_.options();
  const bool is_first_look = phase_ == Phase::kIdle;
  if (is_first_look) {
    phase_ = Phase::kReading;
    head_ = server_.borrow_head();
  }
  const Result<size_t> size = parse_request_head(in_.view(), options.head, scanner_, *head_);
  if (!size) return fail(size.error());
  if (*size == 0 && is_first_look && place_ == Place::kTaken)
    deadline_.set(after_ms(loop(), options.head_ms));
  // A head that came in one read was complete when that returned.
  if (*size > 0) head_read_ = is_first_look ? arrived_ : monotonic_ns();
  return *size > 0;
}

void ServerConnection::stamp_arrival() {
  arrived_ = monotonic_ns();
  arrived_wall_ = loop().wall(arrived_);
}

void ServerConnection::begin_exchange() {
  phase_ = Phase::kBusy;
  minor_ = static_cast<uint8_t>(head_->minor);
  keep_alive_ = head_->keep_alive && !server_.draining_;
  used_ = head_->size;
  bytes_read_ = used_;
  blocked_ns_ = 0;
  bytes_written_ = 0;
  body_ = {};
  body_readable_ = 0;
  body_complete_ = head_->framing == BodyFraming::kNone ||
                   (head_->framing == BodyFraming::kLength && head_->content_length == 0);
  continue_due_ = head_->expect_continue && !body_complete_;
  event_.drop(kReadable | kWritable | kDeadline);
  deadline_.clear();
}

void ServerConnection::end_exchange() {
  if (!body_complete_) keep_alive_ = false;  // the rest of the body is in the way
  if (half_closed_ && in_.size() <= used_ && pipelined_.empty()) keep_alive_ = false;
  if (server_.draining_) keep_alive_ = false;
  release_request();
  event_.drop(~kGone);
  if (!keep_alive_ || gone_) return;
  phase_ = Phase::kIdle;
  if (!pipelined_.empty()) {
    in_.append(pipelined_.view());
    pipelined_.clear();
  }
}

void ServerConnection::release_request() {
  body_ = {};
  body_readable_ = 0;
  chunked_.clear();
  if (head_ != nullptr) server_.give_back(std::move(head_));
  if (used_ == 0) return;
  in_.consume(used_);
  used_ = 0;
  if (in_.empty()) in_.clear();
}

// An answer that ends the connection: the client must be able to read it, so what it still sends is
// read over for a while before the socket is closed.
net::Task<void> ServerConnection::linger() {
  socket_.shutdown_write();
  phase_ = Phase::kReading;
  deadline_.set(monotonic_ns() + kLingerMs * kMillisecond);
  size_t left = kLingerBytes;
  for (;;) {
    const net::IoResult got = socket_.read(scratch(), kScratchBytes);
    if (got.state == net::IoState::kOk) {
      if (got.bytes >= left) co_return;
      left -= got.bytes;
      continue;
    }
    if (got.state != net::IoState::kWouldBlock) co_return;
    watch_readable();
    const net::Signals signals = co_await event_.wait(kReadable | kGone | kDeadline);
    if ((signals & (kGone | kDeadline)) != 0) co_return;
  }
}

net::Task<void> ServerConnection::refuse(const Error& error) {
  std::string out;
  const std::string_view seen = in_.view();
  const size_t line_end = std::min(seen.find('\r'), seen.size());
  const std::string_view line = seen.substr(0, line_end);
  const size_t from = line.find(' ');
  std::string_view target;
  if (from != std::string_view::npos)
    target = line.substr(from + 1, line.find(' ', from + 1) - from - 1);
  server_.handler_.refuse(error, target, out);
  keep_alive_ = false;
  phase_ = Phase::kBusy;
  co_await write(std::string_view(out));
}

// --- reading -----------------------------------------------------------------------------------

// Reads into the buffer where it has room for a request of common size, else over the thread's
// scratch.
ServerConnection::Got ServerConnection::read_some(Buffer& into, size_t at_most) {
  if (&into == &in_ && in_.empty()) in_.reserve_block();
  const size_t room = std::min(into.room(), at_most);
  const bool direct = room >= std::min(at_most, kDirectBytesMin);
  char* to = direct ? into.tail() : scratch();
  const net::IoResult got = socket_.read(to, direct ? room : std::min(at_most, kScratchBytes));
  if (got.state != net::IoState::kOk) {
    if (into.empty()) into.clear();
    return got.state == net::IoState::kWouldBlock ? Got::kNothing : Got::kEnd;
  }
  drained_ = got.drained;
  if (&into == &in_ && in_.empty()) stamp_arrival();
  if (direct) {
    into.commit(got.bytes);
  } else {
    into.append({to, got.bytes});
  }
  return Got::kBytes;
}

net::Task<bool> ServerConnection::wait_for_bytes() {
  watch_readable();
  const net::Signals got = co_await event_.wait(kReadable | kGone | kDeadline);
  if ((got & kReadable) != 0) co_return true;
  if ((got & kDeadline) != 0) event_.raise_later(kDeadline);  // for the caller to tell apart
  co_return false;
}

bool ServerConnection::take_body(uint64_t bytes_max) {
  if (!body_complete_) {
    const uint64_t length = head_->content_length;
    const bool all_here = head_->framing == BodyFraming::kLength && length <= bytes_max &&
                          in_.size() - used_ >= length;
    if (!all_here) return false;
    keep_body(static_cast<size_t>(length));
    body_complete_ = true;
    continue_due_ = false;
  }
  watch();
  return !gone_;
}

net::Task<Status> ServerConnection::read_body(uint64_t bytes_max, Nanos until) {
  Status done;
  if (!body_complete_) {
    if (head_->framing == BodyFraming::kLength && head_->content_length > bytes_max) {
      co_return fail(ErrorCode::kBodyTooLarge,
                     concat("the body has ", head_->content_length, " bytes; the limit is ",
                            bytes_max, " (body_bytes_max)"));
    }
    const bool all_here =
        head_->framing == BodyFraming::kLength && in_.size() - used_ >= head_->content_length;
    if (continue_due_ && in_.size() == used_) co_await write(kContinue);
    continue_due_ = false;
    phase_ = Phase::kReading;
    body_until_ = until;
    if (!all_here) deadline_.set(until);
    if (head_->framing == BodyFraming::kLength) {
      done = co_await read_length(head_->content_length);
    } else {
      done = co_await read_chunked(bytes_max);
    }
    if (!all_here) deadline_.clear();
    event_.drop(kDeadline);
    phase_ = Phase::kBusy;
    if (!done) co_return done;
    body_complete_ = true;
  }
  bytes_read_ = std::max<uint64_t>(bytes_read_, used_);
  watch();
  if (gone_) co_return fail(ErrorCode::kClientGone, "the client left");
  co_return Status{};
}

// A body of known length is read straight behind the head, so head and body stay one piece.
net::Task<Status> ServerConnection::read_length(uint64_t length) {
  const size_t wanted = used_ + static_cast<size_t>(length);
  if (in_.size() < wanted) {
    const size_t head_size = head_->size;
    in_.reserve(wanted);
    // The bytes may have moved: the head's views with them.
    const Result<size_t> again =
        parse_request_head(in_.view(), server_.handler_.options().head, *head_);
    HW_ASSERT(again && *again == head_size);
  }
  while (in_.size() < wanted) {
    const Got got = read_some(in_, wanted - in_.size());
    if (got == Got::kBytes && (!drained_ || in_.size() == wanted)) continue;
    if (got == Got::kEnd) {
      leave("client closed");
      co_return fail(ErrorCode::kClientGone, "the client left before its body was complete");
    }
    const bool more = co_await wait_for_bytes();
    if (more) continue;
    if (gone_)
      co_return fail(ErrorCode::kClientGone, "the client left before its body was complete");
    co_return fail(late_body());
  }
  keep_body(length);
  co_return Status{};
}

// The body is the `length` bytes behind the head in in_.
void ServerConnection::keep_body(size_t length) {
  body_ = in_.view().substr(used_, length);
  body_readable_ = in_.readable() - used_;
  used_ += length;
  bytes_read_ = used_;
}

net::Task<Status> ServerConnection::read_chunked(uint64_t bytes_max) {
  ChunkDecoder decoder(ErrorCode::kBadRequest);
  Buffer raw;  // received and not decoded yet
  raw.append(in_.view().substr(used_));
  for (;;) {
    while (!raw.empty() && !decoder.done()) {
      const Result<ChunkStep> step = decoder.step(raw.view());
      if (!step) co_return fail(step.error());
      // A chunk that says it will be too large need not be waited for.
      const uint64_t to_come = decoder.chunk_left();
      if (to_come > bytes_max || chunked_.size() + step->payload.size() + to_come > bytes_max) {
        co_return fail(ErrorCode::kBodyTooLarge,
                       concat("the body has more than ", bytes_max, " bytes (body_bytes_max)"));
      }
      chunked_.append(step->payload);
      raw.consume(step->consumed);
      bytes_read_ += step->consumed;
    }
    if (decoder.done()) break;
    const Got got = read_some(raw, kScratchBytes);
    if (got == Got::kBytes) continue;  // decode first
    if (got == Got::kEnd) {
      leave("client closed");
      co_return fail(ErrorCode::kClientGone, "the client left before its body was complete");
    }
    const bool more = co_await wait_for_bytes();
    if (more) continue;
    if (gone_)
      co_return fail(ErrorCode::kClientGone, "the client left before its body was complete");
    co_return fail(late_body());
  }
  used_ = in_.size();  // everything behind the head was taken
  pipelined_.append(raw.view());
  chunked_.reserve(chunked_.size());
  body_ = chunked_.view();
  body_readable_ = chunked_.readable();
  co_return Status{};
}

// --- watching ----------------------------------------------------------------------------------

void ServerConnection::watch_readable() {
  socket_.want_read();
}

void ServerConnection::watch() {
  if (gone_ || half_closed_) return;
  if (!body_complete_) return;  // bytes of the body are no news
  watch_readable();
}

void ServerConnection::on_readable() {
  if (phase_ != Phase::kBusy) return event_.raise(kReadable);
  if (half_closed_) return leave("client reset after its end");
  for (;;) {
    const net::IoResult got = socket_.read(scratch(), kScratchBytes);
    if (got.state == net::IoState::kOk) {
      pipelined_.append({scratch(), got.bytes});
      if (pipelined_.size() > kPipelinedMax) return leave("pipelined too much");
      if (!got.drained) continue;
      return watch_readable();
    }
    if (got.state == net::IoState::kWouldBlock) return watch_readable();
    if (got.state == net::IoState::kError) return leave("client reset");
    break;
  }
  if (server_.handler_.options().half_close == HalfClosePolicy::kAbort)
    return leave("client closed");
  half_closed_ = true;
  socket_.want_break();
  event_.raise(kHalfClosed);
}

void ServerConnection::leave(std::string_view reason) {
  if (gone_) return;
  gone_ = true;
  gone_reason_ = reason;
  keep_alive_ = false;
  event_.raise(kGone);
}

void ServerConnection::shut_down(std::string_view reason) {
  if (gone_) return;
  gone_ = true;
  gone_reason_ = reason;
  keep_alive_ = false;
  event_.raise_later(kGone);
}

// --- writing -----------------------------------------------------------------------------------

size_t ServerConnection::try_write(std::string_view bytes) {
  if (gone_ || bytes.empty()) return 0;
  const net::IoResult put = socket_.write(bytes.data(), bytes.size());
  bytes_written_ += put.bytes;
  return put.bytes;
}

net::Task<bool> ServerConnection::write(std::string_view bytes) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  const bool done = co_await write(std::span<iovec>(&piece, 1));
  co_return done;
}

namespace {

// How long the client has taken no byte. That the kernel takes more of ours says nothing: what
// counts is what the client's own has acknowledged, which is looked at now and then.
class StallWatch {
 public:
  StallWatch(const net::Socket& socket, int64_t limit_ms)
      : socket_(socket), limit_(limit_ms * kMillisecond) {}
  // Nothing could be written at `now`, or something may be again.
  void look(Nanos now) {
    const int left = socket_.unacknowledged_bytes();
    if (since_ < 0 || left < left_) since_ = now;
    left_ = left;
  }
  // More was written: what is left has grown.
  void wrote() {
    if (since_ >= 0) left_ = socket_.unacknowledged_bytes();
  }
  bool watching() const { return since_ >= 0; }
  bool over(Nanos now) const { return limit_ > 0 && now >= since_ + limit_; }
  // When to look again.
  Nanos next(Nanos now) const {
    if (limit_ == 0) return net::Deadline::kNever;
    return std::min(since_ + limit_, now + limit_ / kLooks);
  }

 private:
  static constexpr int kLooks = 10;  // the limit is kept to a tenth of itself
  const net::Socket& socket_;
  const Nanos limit_;  // 0: none
  Nanos since_ = -1;
  int left_ = 0;
};

}  // namespace

net::Task<bool> ServerConnection::write(std::span<iovec> pieces) {
  // The exchange's own deadline goes on while the client is slow; ours is kept beside it.
  StallWatch stall(socket_, server_.handler_.options().write_stall_ms);
  const Nanos outer = deadline_.due();
  for (;;) {
    while (!pieces.empty() && pieces.front().iov_len == 0) pieces = pieces.subspan(1);
    if (gone_) break;
    if (pieces.empty()) {
      if (stall.watching()) deadline_.set(outer);
      co_return true;
    }
    const net::IoResult put = socket_.write(pieces);
    if (put.state == net::IoState::kOk) {
      bytes_written_ += put.bytes;
      size_t left = put.bytes;
      for (iovec& piece : pieces) {
        const size_t taken = std::min(left, piece.iov_len);
        piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
        piece.iov_len -= taken;
        left -= taken;
      }
      stall.wrote();
      continue;
    }
    if (put.state != net::IoState::kWouldBlock) {
      shut_down("client reset");
      break;
    }
    const Nanos now = monotonic_ns();
    if (!stall.watching()) stall.look(now);
    if (stall.over(now)) {
      shut_down("write stalled");
      break;
    }
    deadline_.set(std::min(outer, stall.next(now)));
    socket_.want_write();
    const net::Signals got = co_await event_.wait(kWritable | kGone | kDeadline);
    const Nanos woken = monotonic_ns();
    blocked_ns_ += woken - now;
    stall.look(woken);
    if ((got & kDeadline) != 0 && woken >= outer) {
      event_.raise_later(kDeadline);  // not ours: the exchange decides
      co_return false;
    }
  }
  deadline_.set(outer);
  co_return false;
}

// --- the server --------------------------------------------------------------------------------

Server::Server(net::Loop& loop, RequestHandler& handler, net::TlsContext* tls)
    : loop_(loop), handler_(handler), tls_(tls) {}

Server::~Server() {
  HW_ASSERT(first_ == nullptr);
}

namespace {

// Owns the connection for as long as its coroutine runs.
net::Task<void> live(std::unique_ptr<ServerConnection> connection,
                     net::Task<void> (ServerConnection::*run)()) {
  co_await (connection.get()->*run)();
}

}  // namespace

void Server::set_tls(net::TlsContext& tls) {
  HW_ASSERT(tls_ != nullptr);
  tls_ = &tls;
}

void Server::accept(int fd) {
  if (loop_.connections() >= handler_.options().connections_max) return turn_away(fd);
  loop_.add_connections(1);
  admit(fd);
}

void Server::admit(int fd) {
  auto connection = std::make_unique<ServerConnection>(*this, net::Socket(loop_, fd),
                                                       ServerConnection::Place::kTaken);
  loop_.spawn(live(std::move(connection), &ServerConnection::run));
}

void Server::turn_away(int fd) {
  if (turned_away_ == kTurnedAwayMax) {
    ::close(fd);
    return;
  }
  ++turned_away_;
  auto connection = std::make_unique<ServerConnection>(*this, net::Socket(loop_, fd),
                                                       ServerConnection::Place::kNone);
  loop_.spawn(live(std::move(connection), &ServerConnection::run));
}

void Server::drain() {
  draining_ = true;
  for (ServerConnection* each = first_; each != nullptr; each = each->next_) {
    if (each->phase_ == ServerConnection::Phase::kIdle) each->shut_down(kShutdownReason);
  }
}

void Server::end_exchanges() {
  draining_ = true;
  ending_ = true;
  for (ServerConnection* each = first_; each != nullptr; each = each->next_)
    each->event_.raise_later(kDeadline);
}

void Server::abort_all() {
  draining_ = true;
  for (ServerConnection* each = first_; each != nullptr; each = each->next_)
    each->shut_down(kShutdownReason);
}

void Server::enlist(ServerConnection& connection) {
  connection.next_ = first_;
  if (first_ != nullptr) first_->previous_ = &connection;
  first_ = &connection;
}

void Server::strike(ServerConnection& connection) {
  if (connection.previous_ != nullptr) connection.previous_->next_ = connection.next_;
  if (connection.next_ != nullptr) connection.next_->previous_ = connection.previous_;
  if (first_ == &connection) first_ = connection.next_;
  if (connection.place_ == ServerConnection::Place::kNone) {
    --turned_away_;
  } else {
    loop_.add_connections(-1);
  }
}

std::unique_ptr<RequestHead> Server::borrow_head() {
  if (spare_heads_.empty()) return std::make_unique_for_overwrite<RequestHead>();
  std::unique_ptr<RequestHead> head = std::move(spare_heads_.back());
  spare_heads_.pop_back();
  return head;
}

void Server::give_back(std::unique_ptr<RequestHead> head) {
  if (spare_heads_.size() < kSpareHeads) spare_heads_.push_back(std::move(head));
}

}  // namespace hw::http
