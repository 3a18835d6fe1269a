// Client: sends requests from one loop and records their answers, with stamps taken straight after
// the system calls that they name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "http/head.h"
#include "net/blocking_pool.h"
#include "net/loop.h"
#include "net/resolver.h"
#include "net/socket.h"
#include "net/tls.h"
#include "runs/record.h"
#include "sampler/answer_recorder.h"
#include "sampler/target.h"

namespace hw::sampler {

// Bounds of one request.
struct ClientLimits {
  Nanos timeout_ns = 120 * kSecond;  // from its dispatch to the end of its answer
  // How long a stream may stay open behind its final event before that counts as its end.
  Nanos linger_ns = 500 * kMillisecond;
};

// One request on its way, and what came of it.
struct Job {
  std::string bytes;  // head and body
  Delivery delivery = Delivery::kStreamed;
  runs::Record record;  // t_sched, t_disp, phase, bucket and id are set by whoever hands it in
  bool from_headway = false;
  std::string body;  // of an answer that was not streamed, its beginning
  wire::ErrorWords error_words;
};

// All connections to one target. Everything on its loop's thread.
class Client {
 public:
  // `target` outlives this. Errors: kConfig where TLS cannot be set up; `ca_pem` are roots that are
  // trusted beside the system's.
  static Result<std::unique_ptr<Client>> make(net::Loop& loop, const Target& target,
                                              const ClientLimits& limits, std::string_view ca_pem);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends the job's request and follows its answer to the end; the record is complete then,
  // whatever happened. A kept connection that turns out dead before a byte of an answer came is
  // replaced once by a fresh one: one logical request with two attempts. `job` outlives the call.
  net::Task<void> perform(Job& job);
  // Ends all requests under way, soon.
  void cut(AnswerEnd end, std::string_view limit);
  // The same for those in one phase only.
  void cut(runs::Phase phase, AnswerEnd end, std::string_view limit);

  // Requests under way.
  size_t in_flight() const { return running_.size(); }
  // How long what was read may have waited for this loop: upper bounds, one for each read.
  const Histogram& receive_age() const { return receive_age_; }
  // Connections that were opened, and requests sent over one that had served another.
  uint64_t dialled() const { return dialled_; }
  uint64_t reused() const { return reused_; }

 private:
  class Exchange;
  Client(net::Loop& loop, const Target& target, const ClientLimits& limits);

  // A kept connection that is alive; a closed socket where there is none.
  net::Socket take_idle();
  void give_back(net::Socket socket);

  static constexpr size_t kIdleMax = 20'000;
  static constexpr size_t kReadBytes = 64u << 10;

  net::Loop& loop_;
  const Target& target_;
  const ClientLimits limits_;
  net::BlockingPool names_;
  net::Resolver resolver_;
  std::unique_ptr<net::TlsContext> tls_;
  std::vector<net::Socket> idle_;
  std::vector<Exchange*> running_;
  // What a read needs until it returns to the loop is shared by all connections, so that an open
  // stream costs no buffer.
  std::string block_;
  http::ResponseHead head_;
  Histogram receive_age_;
  uint64_t dialled_ = 0, reused_ = 0;
};

}  // namespace hw::sampler
