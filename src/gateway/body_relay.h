// BodyRelay: an answer that is not a stream of events: read whole, judged, passed on with its
// length; or an error, classified. Answers too large to hold pass as they come.
#pragma once

#include <string>
#include <string_view>

#include "gateway/relay.h"
#include "http/buffer.h"

namespace hw::gateway {

class BodyRelay final : public Relay, public Recycled<BodyRelay> {
 public:
  // A larger body is passed on without being read.
  static constexpr size_t kHeldMax = 8u << 20;

  BodyRelay(ExchangeState& state, Attempt& attempt) : state_(state), attempt_(attempt) {}

  // Relays to the end. kFailed where nothing was relayed yet and another channel may be tried.
  net::Task<Ending> run() override;

 private:
  enum class Progress : uint8_t { kMore, kComplete, kTooLarge, kFailed, kGone };

  net::Task<Progress> read_rest();
  Progress take(std::string_view bytes);
  Progress fail(Error error, Outcome outcome);
  // All of the body, where it lies now.
  std::string_view body() const { return single_.empty() ? body_.view() : single_; }
  bool judge(std::string_view body);
  bool is_wrong(std::string_view wrong);
  void take_count(std::string_view plain, std::string& wrong);
  void put(std::string_view said);
  void translate(std::string_view plain, std::string& wrong);
  void compose_head(std::string& out);
  void upstream_is_done();
  bool pass_on_small();
  net::Task<bool> pass_on_large();
  net::Task<Ending> pass_through();
  void end_unfinished(const Received& received, Progress progress);
  Failure classify(std::string_view body);
  SavedAnswer as_it_is(std::string_view body);
  SavedAnswer replaced(int status, const wire::SpokenError& error);
  Status decode(std::string_view coded, std::string& plain);
  void keep_facts(std::string_view plain, std::string& wrong);

  ExchangeState& state_;
  Attempt& attempt_;
  http::Buffer body_;        // of several reads
  std::string_view single_;  // of one read, in the loop's buffer
};

}  // namespace hw::gateway
