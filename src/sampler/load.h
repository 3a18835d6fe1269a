// Load: keeps requests going as a plan wants it, from the first of the warm-up to the last of the
// drain, and measures whether it kept to the plan.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/histogram.h"
#include "net/event.h"
#include "sampler/client.h"
#include "sampler/prompt.h"
#include "sampler/schedule.h"
#include "sampler/schedule_timer.h"

namespace hw::sampler {

// What an open loop does with a request that is due while as many as allowed are under way.
enum class OnCap : uint8_t {
  kWait,  // it waits, and its response time counts from when it was due
  kDrop,  // it is not sent, and counted
};

// The load of one run. Phases: warm-up, ramp, steady, drain; only requests that are due in the
// steady phase are measured.
struct LoadPlan {
  std::optional<SchedulePlan> arrivals;  // an open loop; otherwise a closed one
  size_t concurrency = 1;  // closed: requests under way all the time; open: at most, 0: no limit
  OnCap on_cap = OnCap::kWait;
  size_t warmup_requests = 0;  // closed loop, before anything else
  Nanos warmup_ns = 0, ramp_ns = 0;
  size_t requests = 50;            // of the steady phase; 0: as many as come in `steady_ns`
  Nanos steady_ns = 0;             // 0: until `requests` have begun
  Nanos grace_ns = 120 * kSecond;  // for the end of the last measured request
  Delivery delivery = Delivery::kStreamed;
};

// How well the plan was kept; nanoseconds. Of the steady phase.
struct Pace {
  Histogram lag;  // t_disp - t_sched
  uint64_t late_1ms = 0, late_10ms = 0, late_100ms = 0;
  Histogram timer;  // how late the loop was for what was due, one a wake-up
  std::optional<Nanos> first_due, last_due;    // t_sched
  std::optional<Nanos> first_sent, last_sent;  // t_tx0
  size_t due = 0, sent = 0;
  // Requests a second between the first and the last, meant and sent; nothing for less than two.
  std::optional<double> rate_due() const;
  std::optional<double> rate_sent() const;
};

// One run's load on one loop. All on the loop's thread.
class Load {
 public:
  // `on_done` gets each job when it is over, in the order of ends. All references outlive this.
  Load(net::Loop& loop, Client& client, const Target& target, PromptSource& prompts,
       const LoadPlan& plan, std::function<void(Job&)> on_done);

  // Runs the whole load; returns when the last request is over.
  net::Task<void> run();
  // Wants no more: what is under way is cut and recorded as cancelled.
  void stop();

  // How well the plan has been kept so far.
  const Pace& pace() const { return pace_; }
  // stop() was called before the plan was through.
  bool stopped() const { return stopped_; }
  // Requests of the steady phase that have begun; those that are over; all under way.
  size_t begun() const { return steady_begun_; }
  size_t finished() const { return steady_begun_ - steady_open_; }
  size_t under_way() const { return under_way_; }

  // Most requests that wait for a place; beyond, they are dropped and counted.
  static constexpr size_t kWaitingMax = 1'000'000;

 private:
  std::unique_ptr<Job> make_job(runs::Phase phase, Nanos due);
  net::Task<void> perform(std::unique_ptr<Job> job);
  void launch(std::unique_ptr<Job> job);
  void finish(Job& job);
  void fill_closed();
  void fill_warmup();
  void go_on();
  void begin_timeline();
  void on_due();
  void take_due(Nanos now);
  void admit(std::unique_ptr<Job> job);
  void drop(std::unique_ptr<Job> job);
  void prepare_next();
  void arm();
  void end_steady();
  void watch_drain(Nanos now);
  runs::Phase phase_of(Nanos offset) const;
  size_t places(Nanos now) const;
  bool is_over() const;
  void note_due(const Job& job);

  net::Loop& loop_;
  Client& client_;
  const Target& target_;
  PromptSource& prompts_;
  const LoadPlan plan_;
  std::function<void(Job&)> on_done_;
  net::Event event_;
  ScheduleTimer timer_;
  std::optional<Schedule> schedule_;
  std::unique_ptr<Job> next_;  // of an open loop: composed before it is due
  std::deque<std::unique_ptr<Job>> waiting_;
  Pace pace_;
  Nanos begun_at_ = 0;  // of the timeline, after the warm-up requests
  Nanos armed_for_ = 0;
  Nanos steady_ended_at_ = -1;
  size_t warmup_begun_ = 0, warmup_open_ = 0;
  size_t steady_begun_ = 0, steady_open_ = 0;
  size_t under_way_ = 0;
  uint64_t numbered_ = 0;
  bool on_timeline_ = false, steady_ended_ = false, through_ = false, stopped_ = false;
};

}  // namespace hw::sampler
