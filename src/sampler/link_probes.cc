#include "sampler/link_probes.h"

#include "net/dial.h"
#include "runs/metric.h"
#include "sampler/schedule_timer.h"

namespace hw::sampler {
namespace {

constexpr net::Signals kDue = 1 << 0;
constexpr net::Signals kDialled = 1 << 1;
constexpr net::Signals kStop = 1 << 2;
constexpr net::Signals kEnded = 1 << 0;

}  // namespace

LinkProbes::LinkProbes(net::Loop& loop, const Target& target, const ProbePlan& plan)
    : loop_(loop),
      target_(target),
      plan_(plan),
      names_(1),
      resolver_(loop, names_),
      rtt_event_(loop),
      canary_event_(loop),
      ended_(loop) {}

Result<std::unique_ptr<LinkProbes>> LinkProbes::make(net::Loop& loop, const Target& target,
                                                     const ProbePlan& plan,
                                                     const ClientLimits& limits,
                                                     std::string_view ca_pem) {
  std::unique_ptr<LinkProbes> out(new LinkProbes(loop, target, plan));
  Result<std::unique_ptr<Client>> client = Client::make(loop, target, limits, ca_pem);
  if (!client.has_value()) return fail(client.error());
  out->client_ = std::move(*client);
  return out;
}

void LinkProbes::start() {
  if (plan_.rtt_every_ns > 0) {
    ++running_;
    loop_.spawn(measure_round_trips());
  }
  if (plan_.canary_every_ns > 0) {
    ++running_;
    loop_.spawn(send_canaries());
  }
}

net::Task<void> LinkProbes::stop() {
  stopping_ = true;
  client_->cut(AnswerEnd::kCancelled, "");
  rtt_event_.raise_later(kStop);
  canary_event_.raise_later(kStop);
  while (running_ > 0) co_await ended_.wait(kEnded);
}

void LinkProbes::end_one() {
  --running_;
  ended_.raise_later(kEnded);
}

void LinkProbes::keep(const runs::Probe& probe) {
  if (probes_.size() < kProbesMax) probes_.push_back(probe);
}

// False where nothing more is wanted.
net::Task<bool> LinkProbes::wait_until(Nanos at, net::Event& event) {
  event.drop(kDue);
  ScheduleTimer timer(loop_, [&event] { event.raise(kDue); });
  timer.arm(at);
  co_await event.wait(kDue | kStop);
  co_return !stopping_;
}

net::Task<void> LinkProbes::measure_round_trips() {
  net::DialTarget place;
  const bool proxied = target_.proxy().kind == probe::ProxyChoice::Kind::kHttp;
  place.host = proxied ? target_.proxy().host : target_.url().host;
  place.port = proxied ? target_.proxy().port : target_.url().port;
  bool going = !stopping_;
  for (Nanos due = monotonic_ns(); going; due += plan_.rtt_every_ns) {
    going = co_await wait_until(due, rtt_event_);
    if (!going) break;
    const Nanos begun = monotonic_ns();
    // One that takes longer than the pause to the next is given up.
    rtt_event_.drop(kDue | kDialled);
    ScheduleTimer limit(loop_, [this] { rtt_event_.raise(kDue); });
    limit.arm(begun + plan_.rtt_every_ns);
    net::Dial dial(loop_, resolver_, place, rtt_event_, kDialled);
    if (!dial.finished()) co_await rtt_event_.wait(kDialled | kDue | kStop);
    const net::DialTimes times = dial.times();
    if (times.connected < 0) continue;
    const Nanos from = times.resolved >= 0 ? times.resolved : begun;
    keep({begun, runs::ProbeKind::kRtt, times.connected - from});
  }
  end_one();
}

net::Task<void> LinkProbes::send_canaries() {
  const Prompt smallest = {"", "Hi", 1};
  bool going = !stopping_;
  for (Nanos due = monotonic_ns(); going; due += plan_.canary_every_ns) {
    going = co_await wait_until(due, canary_event_);
    if (!going) break;
    Job job;
    job.bytes = target_.compose(smallest, Delivery::kStreamed);
    job.record.t_sched = job.record.t_disp = monotonic_ns();
    co_await client_->perform(job);
    const auto ttft = runs::metric_ns(runs::Metric::kTtft, job.record);
    if (job.record.outcome != runs::RequestOutcome::kOk || !ttft) continue;
    keep({*job.record.t_tx0, runs::ProbeKind::kCanary, static_cast<Nanos>(*ttft)});
  }
  end_one();
}

}  // namespace hw::sampler
