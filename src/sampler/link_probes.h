// LinkProbes: looks at the way to the target beside a run, on connections of its own: handshakes of
// TCP, and a canary, the smallest request there is.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "net/event.h"
#include "runs/probe.h"
#include "sampler/client.h"

namespace hw::sampler {

// How often; 0: never.
struct ProbePlan {
  Nanos rtt_every_ns = 0;
  Nanos canary_every_ns = 0;
};

// Belongs to its loop's thread. What it measures is never counted among a run's requests.
class LinkProbes {
 public:
  // References outlive this. Errors: those of Client::make().
  static Result<std::unique_ptr<LinkProbes>> make(net::Loop& loop, const Target& target,
                                                  const ProbePlan& plan, const ClientLimits& limits,
                                                  std::string_view ca_pem);

  // Begins to measure.
  void start();
  // Ends, and waits for what is under way.
  net::Task<void> stop();

  // In the order in which they ended; those that failed are not among them.
  const std::vector<runs::Probe>& probes() const { return probes_; }

  // Enough for a week of one a second; later ones are left out.
  static constexpr size_t kProbesMax = 1'000'000;

 private:
  LinkProbes(net::Loop& loop, const Target& target, const ProbePlan& plan);
  net::Task<void> measure_round_trips();
  net::Task<void> send_canaries();
  net::Task<bool> wait_until(Nanos at, net::Event& event);
  void keep(const runs::Probe& probe);
  void end_one();

  net::Loop& loop_;
  const Target& target_;
  const ProbePlan plan_;
  net::BlockingPool names_;
  net::Resolver resolver_;
  std::unique_ptr<Client> client_;  // of the canary
  net::Event rtt_event_, canary_event_, ended_;
  std::vector<runs::Probe> probes_;
  int running_ = 0;
  bool stopping_ = false;
};

}  // namespace hw::sampler
