#include "sampler/client.h"

#include <algorithm>
#include <optional>

#include "net/dial.h"
#include "net/event.h"
#include "net/timers.h"

namespace hw::sampler {
namespace {

constexpr net::Signals kDialled = 1 << 0;
constexpr net::Signals kReadable = 1 << 1;
constexpr net::Signals kWritable = 1 << 2;
constexpr net::Signals kStop = 1 << 3;  // a deadline, or somebody who wants no more

}  // namespace

// One request on one connection after the other, until it has its answer.
class Client::Exchange final : private net::SocketHandler {
 public:
  Exchange(Client& client, Job& job)
      : client_(client), job_(job), event_(client.loop_), limit_(client.loop_.timers(), event_) {
    place_ = client_.running_.size();
    client_.running_.push_back(this);
  }
  ~Exchange() {
    Exchange* last = client_.running_.back();
    client_.running_[place_] = last;
    last->place_ = place_;
    client_.running_.pop_back();
  }

  net::Task<void> run() {
    runs::Record& record = job_.record;
    due_ = record.t_disp.value_or(monotonic_ns()) + client_.limits_.timeout_ns;
    limit_.set(due_);
    socket_ = client_.take_idle();
    record.reused = socket_.is_open();
    for (;;) {
      bool going = true;
      if (!socket_.is_open()) going = co_await connect();
      if (!going) co_return;
      begin_answer();
      going = co_await send();
      if (going) co_await receive();
      if (!may_send_again()) break;
      record.attempts = 2;
      record.reused = false;
      socket_.close();
    }
    settle();
  }

  void cut(AnswerEnd end, std::string_view limit) {
    end_ = end;
    cut_limit_ = limit;
    // Whoever cuts walks the list that an exchange leaves when it ends: so it ends later.
    event_.raise_later(kStop);
  }
  runs::Phase phase() const { return job_.record.phase; }

 private:
  class Limit final : public net::Deadline {
   public:
    Limit(net::Timers& timers, net::Event& event) : net::Deadline(timers), event_(event) {}

   protected:
    void on_deadline() override { event_.raise(kStop); }

   private:
    net::Event& event_;
  };

  void on_readable() override { event_.raise(kReadable); }
  void on_writable() override { event_.raise(kWritable); }

  void begin_answer() {
    answer_.emplace(client_.target_.settings().dialect, job_.delivery, job_.record, client_.head_);
    socket_.set_handler(this);
    ended_.reset();
  }

  // False where there is no connection; the record says why.
  net::Task<bool> connect() {
    ++client_.dialled_;
    const Target& target = client_.target_;
    net::DialTarget place;
    place.host = target.url().host, place.port = target.url().port, place.tls = client_.tls_.get();
    if (target.proxy().kind == probe::ProxyChoice::Kind::kHttp) {
      place.proxy_host = target.proxy().host, place.proxy_port = target.proxy().port;
      place.proxy_authorization = target.proxy().authorization;
    }
    job_.record.t_conn0 = monotonic_ns();
    net::Dial dial(client_.loop_, client_.resolver_, place, event_, kDialled);
    bool stopped = false;
    if (!dial.finished()) {
      const net::Signals raised = co_await event_.wait(kDialled | kStop);
      stopped = (raised & kStop) != 0;
    }
    event_.drop(kDialled);
    stamp(dial.times());
    if (stopped) co_return failed_to_connect(end_, "");
    Result<net::Socket> socket = dial.take();
    if (!socket.has_value()) {
      job_.error_words.message = socket.error().message;
      co_return failed_to_connect(AnswerEnd::kClosed, step_of(dial.times(), place));
    }
    socket_ = std::move(*socket);
    co_return true;
  }

  void stamp(const net::DialTimes& times) {
    runs::Record& record = job_.record;
    if (times.resolved >= 0) record.t_dns = times.resolved;
    if (times.connected >= 0) record.t_tcp = times.connected;
    if (times.secured >= 0) record.t_tls = times.secured;
  }

  static std::string_view step_of(const net::DialTimes& times, const net::DialTarget& place) {
    if (times.connected >= 0) return place.tls != nullptr ? "tls" : "proxy";
    const bool literal = place.host.find_first_not_of("0123456789.") == std::string::npos ||
                         place.host.find(':') != std::string::npos;
    return times.resolved < 0 && !literal ? "dns" : "tcp";
  }

  bool failed_to_connect(AnswerEnd end, std::string_view step) {
    runs::Record& record = job_.record;
    record.t_close = monotonic_ns();
    if (end == AnswerEnd::kCancelled) {
      record.outcome = runs::RequestOutcome::kCancelled;
      return false;
    }
    const bool late = step.empty();
    record.outcome = late ? runs::RequestOutcome::kTimeout : runs::RequestOutcome::kConnectError;
    record.error_class = std::string(late ? "connect" : step);
    return false;
  }

  // False where the connection broke or time is up; then ended_ is set.
  net::Task<bool> send() {
    const std::string& bytes = job_.bytes;
    size_t sent = 0;
    if (!job_.record.t_tx0) job_.record.t_tx0 = monotonic_ns();
    while (sent < bytes.size()) {
      const net::IoResult io = socket_.write(bytes.data() + sent, bytes.size() - sent);
      sent += io.bytes;
      if (io.state == net::IoState::kOk) continue;
      // A server may refuse a body before it has all of it: its answer is still read.
      if (io.state != net::IoState::kWouldBlock) break;
      socket_.want_write();
      const net::Signals raised = co_await event_.wait(kWritable | kStop);
      if ((raised & kStop) != 0) co_return ends(end_);
    }
    job_.record.t_tx1 = monotonic_ns();
    co_return true;
  }

  net::Task<void> receive() {
    std::string& block = client_.block_;
    for (;;) {
      const net::IoResult io = socket_.read(block.data(), block.size());
      if (io.state == net::IoState::kOk) {
        const Nanos now = monotonic_ns();
        client_.receive_age_.record(client_.loop_.late(now));
        if (!answer_->take(std::string_view(block.data(), io.bytes), now)) {
          ends(AnswerEnd::kComplete);
          co_return;
        }
        if (!io.drained) continue;
      } else if (io.state != net::IoState::kWouldBlock) {
        ends(io.state == net::IoState::kEof ? AnswerEnd::kClosed : AnswerEnd::kReset);
        co_return;
      }
      if (answer_->answered() && !lingering_) linger();
      socket_.want_read();
      const net::Signals raised = co_await event_.wait(kReadable | kStop);
      if ((raised & kStop) != 0) {
        ends(end_);
        co_return;
      }
    }
  }

  // The final event has come; the end of the body should be next.
  void linger() {
    lingering_ = true;
    limit_.set(std::min(due_, monotonic_ns() + client_.limits_.linger_ns));
  }

  bool ends(AnswerEnd end) {
    ended_ = end;
    ended_at_ = monotonic_ns();
    return false;
  }

  bool may_send_again() const {
    const bool broke = ended_ == AnswerEnd::kClosed || ended_ == AnswerEnd::kReset;
    return broke && *job_.record.reused && !answer_->begun();
  }

  void settle() {
    answer_->finish(*ended_, cut_limit_, ended_at_);
    job_.from_headway = answer_->from_headway();
    job_.error_words = answer_->error_words();
    job_.body = answer_->body();
    const bool keeps = client_.target_.settings().reuse == Reuse::kPooled;
    if (ended_ == AnswerEnd::kComplete && keeps && answer_->reusable()) {
      client_.give_back(std::move(socket_));
    }
    socket_.close();
  }

  Client& client_;
  Job& job_;
  net::Event event_;
  Limit limit_;
  Nanos due_ = 0;
  AnswerEnd end_ = AnswerEnd::kTimeout;  // what kStop means
  std::string_view cut_limit_ = "total";
  net::Socket socket_;
  std::optional<AnswerRecorder> answer_;
  std::optional<AnswerEnd> ended_;
  Nanos ended_at_ = 0;
  bool lingering_ = false;
  size_t place_ = 0;
};

Client::Client(net::Loop& loop, const Target& target, const ClientLimits& limits)
    : loop_(loop),
      target_(target),
      limits_(limits),
      names_(1),
      resolver_(loop, names_),
      block_(kReadBytes, '\0') {}

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(net::Loop& loop, const Target& target,
                                             const ClientLimits& limits, std::string_view ca_pem) {
  std::unique_ptr<Client> out(new Client(loop, target, limits));
  if (target.url().tls) {
    Result<std::unique_ptr<net::TlsContext>> tls = net::TlsContext::client(ca_pem);
    if (!tls.has_value()) return fail(tls.error());
    out->tls_ = std::move(*tls);
  }
  return out;
}

net::Task<void> Client::perform(Job& job) {
  Exchange exchange(*this, job);
  co_await exchange.run();
}

void Client::cut(AnswerEnd end, std::string_view limit) {
  for (Exchange* exchange : running_) exchange->cut(end, limit);
}

void Client::cut(runs::Phase phase, AnswerEnd end, std::string_view limit) {
  for (Exchange* exchange : running_) {
    if (exchange->phase() == phase) exchange->cut(end, limit);
  }
}

net::Socket Client::take_idle() {
  while (!idle_.empty()) {
    net::Socket socket = std::move(idle_.back());
    idle_.pop_back();
    if (!socket.quiet()) continue;
    ++reused_;
    return socket;
  }
  return {};
}

void Client::give_back(net::Socket socket) {
  if (idle_.size() >= kIdleMax) return;
  socket.set_handler(nullptr);
  idle_.push_back(std::move(socket));
}

}  // namespace hw::sampler
