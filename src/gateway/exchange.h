// Exchange: one client request from its head to the last byte of its answer, end to end: key, body,
// facts, channels, attempts within one budget, the record.
#pragma once

#include <memory>
#include <vector>

#include "base/recycled.h"
#include "gateway/attempt.h"
#include "gateway/exchange_state.h"
#include "gateway/relay.h"
#include "route/plan.h"

namespace hw::gateway {

class Exchange : public Recycled<Exchange> {
 public:
  // `route` is one of the model API. `settings` is the snapshot that the exchange keeps.
  Exchange(LoopContext& context, http::ServerConnection& client,
           std::shared_ptr<const Snapshot> settings, const edge::Route& route);
  ~Exchange();

  // Serves the request; when it returns the client has an answer or is gone, and the call is
  // recorded. Ends the exchange.
  static net::Task<void> run(std::unique_ptr<Exchange> exchange, const http::RequestHead& head);

 private:
  bool open(const http::RequestHead& head);
  net::Task<void> read_body();
  Nanos decide(const http::RequestHead& head);
  Status expect_body(const http::RequestHead& head);
  Status body_read(const http::RequestHead& head, Nanos now);
  Nanos body_deadline() const;
  Status hold_body(uint64_t bytes);
  Status decode_body(const http::RequestHead& head);
  Status understand();
  Status find_candidates();
  net::Task<void> serve(const http::RequestHead& head, Nanos now);
  bool translate_for(const route::Candidate& candidate);
  std::unique_ptr<Relay> make_relay(Attempt& attempt);
  net::Task<bool> back_off(Nanos wait);
  net::Task<void> answer_failure();
  bool estimates() const;
  net::Task<void> answer_estimate();
  net::Task<void> reject(const Error& error);
  net::Task<void> answer_error(const Error& error, Outcome outcome);

  ExchangeState state_;
  const access::Key* key_ = nullptr;
  std::vector<route::Candidate> candidates_;
  Nanos body_complete_at_ = 0;
  std::unique_ptr<Error> refused_;    // why the request is not served
  std::unique_ptr<Failure> failure_;  // of the last attempt that failed
  uint64_t body_held_ = 0;
};

}  // namespace hw::gateway
