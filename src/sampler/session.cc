#include "sampler/session.h"

#include <sys/utsname.h>

#include <algorithm>

#include "base/text.h"
#include "json/check.h"
#include "runs/run_folder.h"

namespace hw::sampler {
namespace {

constexpr double kNanosPerMs = 1e6;
// Records that wait for the gateway's own view of them; those beyond go without.
constexpr size_t kHeldMax = 20'000;
// How long all of those look-ups may take together.
constexpr Nanos kJoinNsMax = 30 * kSecond;
// The gateway promises a record within a second of its end.
constexpr Nanos kJoinDelayNs = 1'200 * kMillisecond;
// A client that was later than this, and than that share of the median TTFT, measured itself.
constexpr double kLagMsMax = 1, kLagShareMax = 0.01;
constexpr double kReceiveAgeMsMax = 10, kReceiveAgeShareMax = 0.05;
constexpr size_t kClassesMax = 64;  // of errors; further ones are counted as "other"

double milliseconds(Nanos nanos) {
  return static_cast<double>(nanos) / kNanosPerMs;
}

std::optional<double> quantile_ms(const Histogram& histogram, double q) {
  if (histogram.count() == 0) return std::nullopt;
  return milliseconds(histogram.quantile(q));
}
std::optional<double> max_ms(const Histogram& histogram) {
  if (histogram.count() == 0) return std::nullopt;
  return milliseconds(histogram.max());
}

void write_optional(json::Writer& writer, std::string_view name, std::optional<double> value) {
  writer.key(name);
  value ? writer.value(*value) : writer.null();
}

std::string_view arrival_name(workload::ArrivalKind kind) {
  switch (kind) {
    case workload::ArrivalKind::kPoisson:
      return "poisson";
    case workload::ArrivalKind::kGamma:
      return "gamma";
    case workload::ArrivalKind::kConstant:
      return "constant";
  }
  return "";
}

std::string host_words() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return concat(names.nodename, " ", names.sysname, " ", names.release, " ", names.machine);
}

}  // namespace

struct Session::State {
  net::Loop loop{0};
  std::unique_ptr<Client> client;
  std::unique_ptr<LinkProbes> probes;
  std::unique_ptr<Load> load;
  std::optional<runs::RequestsWriter> writer;
  std::vector<std::unique_ptr<Job>> held;  // answered by a gateway: their calls are asked for later
  runs::SampleSet samples;
  explicit State(const Objectives& objectives) : serving(objectives) {}

  ServingCount serving;
  SessionResult result;
  Nanos began_wall = 0;
  bool is_asked_to_stop = false;
};

Session::Session(const Target& target, PromptSource& prompts, SessionSettings settings,
                 std::function<void(const Load&, const runs::Record&)> on_record)
    : target_(target),
      prompts_(prompts),
      settings_(std::move(settings)),
      on_record_(std::move(on_record)),
      state_(std::make_unique<State>(settings_.objectives)) {}

Session::~Session() = default;

void Session::stop() {
  state_->loop.post([this] {
    state_->is_asked_to_stop = true;
    if (state_->load != nullptr) state_->load->stop();
  });
}

Result<SessionResult> Session::run() {
  State& state = *state_;
  Result<std::unique_ptr<Client>> client =
      Client::make(state.loop, target_, settings_.limits, settings_.ca_pem);
  if (!client.has_value()) return fail(client.error());
  state.client = std::move(*client);
  Result<std::unique_ptr<LinkProbes>> probes =
      LinkProbes::make(state.loop, target_, settings_.probes, settings_.limits, settings_.ca_pem);
  if (!probes.has_value()) return fail(probes.error());
  state.probes = std::move(*probes);
  if (!settings_.folder.empty()) {
    Result<runs::RequestsWriter> writer = runs::RequestsWriter::create(settings_.folder);
    if (!writer.has_value()) return fail(writer.error());
    state.writer.emplace(std::move(*writer));
  }
  state.began_wall = wall_ns();
  state.load = std::make_unique<Load>(state.loop, *state.client, target_, prompts_, settings_.plan,
                                      [this](Job& job) { take(job); });
  state.loop.spawn(perform());
  state.loop.run();
  return finish();
}

net::Task<void> Session::perform() {
  state_->probes->start();
  co_await state_->load->run();
  co_await state_->probes->stop();
  co_await join_gateway_calls();
  state_->loop.stop();
}

// One request is over.
void Session::take(Job& job) {
  State& state = *state_;
  const runs::Record& record = job.record;
  state.samples.add(record);
  state.serving.add(record);
  if (record.phase == runs::Phase::kSteady && runs::is_failed(record.outcome)) {
    std::string name = concat(runs::outcome_name(record.outcome), " ", record.error_class);
    auto& errors = state.result.errors;
    if (errors.size() >= kClassesMax && !errors.contains(name)) name = "other";
    ++errors[name];
    if (!job.error_words.message.empty()) {
      state.result.first_words.emplace(name, job.error_words.message);
    }
  }
  on_record_(*state.load, record);
  if (!job.from_headway || state.held.size() >= kHeldMax) return write(record);
  auto held = std::make_unique<Job>();
  held->record = std::move(job.record);
  state.held.push_back(std::move(held));
}

void Session::write(const runs::Record& record) {
  State& state = *state_;
  if (!state.writer || state.result.disk) return;
  if (Status written = state.writer->append(record); !written.has_value()) {
    state.result.disk = written.error();
    return;
  }
  ++state.result.records;
}

// Asks the gateway for its record of each request that it answered.
net::Task<void> Session::join_gateway_calls() {
  State& state = *state_;
  if (!state.held.empty() && !state.is_asked_to_stop) {
    net::Event event(state.loop);
    ScheduleTimer timer(state.loop, [&event] { event.raise(1); });
    timer.arm(monotonic_ns() + kJoinDelayNs);
    co_await event.wait(1);
  }
  const Nanos until = monotonic_ns() + kJoinNsMax;
  bool answers = true;
  for (std::unique_ptr<Job>& held : state.held) {
    if (answers && !state.is_asked_to_stop && monotonic_ns() < until) {
      Job look_up;
      look_up.delivery = Delivery::kWhole;
      look_up.bytes = target_.compose_get(concat("/api/calls/", held->record.id));
      look_up.record.t_disp = monotonic_ns();
      co_await state.client->perform(look_up);
      answers = look_up.record.status.has_value();
      if (look_up.record.status == 200 && json::is_json_object(look_up.body)) {
        // A record is one line; JSON has raw line ends between its tokens only.
        std::replace(look_up.body.begin(), look_up.body.end(), '\n', ' ');
        std::replace(look_up.body.begin(), look_up.body.end(), '\r', ' ');
        held->record.gateway_call = std::move(look_up.body);
        ++state.result.gateway_calls;
      }
    }
    write(held->record);
    held.reset();
  }
  state.held.clear();
}

Result<SessionResult> Session::finish() {
  State& state = *state_;
  SessionResult& result = state.result;
  state.samples.finish();
  result.summary = runs::summarize(state.samples);
  result.figures = state.serving.figures();
  result.load.concurrency = settings_.plan.concurrency;
  if (settings_.plan.arrivals) result.load.rate = settings_.plan.arrivals->rate;
  result.stopped = state.load->stopped();
  for (const runs::BucketSummary& bucket : result.summary.buckets) {
    if (bucket.name == runs::kAllBucket && result.summary.buckets.size() > 2) continue;
    result.health.emplace_back(bucket.name, judge(bucket));
  }
  result.probes = state.probes->probes();
  fill_pace(result);
  fill_manifest(result);
  if (settings_.folder.empty()) return std::move(result);
  if (Status written = write_folder(result); !written.has_value()) {
    if (!result.disk) result.disk = written.error();
  }
  return std::move(result);
}

void Session::fill_pace(SessionResult& result) const {
  const Pace& pace = state_->load->pace();
  PaceFigures& out = result.pace;
  if (settings_.plan.arrivals) {
    out.rate_offered = settings_.plan.arrivals->rate;
    out.lag_p50 = quantile_ms(pace.lag, 0.5);
    out.lag_p99 = quantile_ms(pace.lag, 0.99);
    out.lag_max = max_ms(pace.lag);
    const auto count = static_cast<double>(std::max<uint64_t>(pace.lag.count(), 1));
    out.late_1ms = static_cast<double>(pace.late_1ms) / count;
    out.late_10ms = static_cast<double>(pace.late_10ms) / count;
    out.late_100ms = static_cast<double>(pace.late_100ms) / count;
    out.timer_p99 = quantile_ms(pace.timer, 0.99);
    out.timer_max = max_ms(pace.timer);
  }
  out.rate_due = pace.rate_due();
  out.rate_sent = pace.rate_sent();
  const Histogram& age = state_->client->receive_age();
  out.receive_age_p50 = quantile_ms(age, 0.5);
  out.receive_age_p99 = quantile_ms(age, 0.99);
  out.receive_age_max = max_ms(age);
  out.connections = state_->client->dialled();
  out.reused = state_->client->reused();

  const auto& ttft = result.summary.buckets.front().of(runs::Metric::kTtft);
  const double median = ttft.p50 ? ttft.p50->value : 0;
  // Waiting for a place under the cap is the server's slowness, not ours.
  const bool waits = settings_.plan.concurrency > 0;
  const std::optional<double> lag = waits ? out.timer_p99 : out.lag_p99;
  const bool late = lag && *lag > std::max(kLagMsMax, kLagShareMax * median);
  const bool aged = out.receive_age_p99 &&
                    *out.receive_age_p99 > std::max(kReceiveAgeMsMax, kReceiveAgeShareMax * median);
  std::vector<std::string>& marks = result.summary.marks;
  if (late || aged) marks.emplace_back("client_limited");
  for (const std::string& mark : settings_.marks) marks.push_back(mark);
}

void Session::fill_manifest(SessionResult& result) const {
  runs::Manifest& out = result.manifest;
  const LoadPlan& plan = settings_.plan;
  out = settings_.manifest;
  append_rfc3339(out.started, state_->began_wall);
  out.load = plan.arrivals ? "open" : "closed";
  if (plan.arrivals) {
    out.offered_rate = plan.arrivals->rate;
    out.fingerprint["arrival"] =
        concat(arrival_name(plan.arrivals->kind), " ", fixed(plan.arrivals->burstiness, 3));
  }
  out.achieved_rate = result.pace.rate_sent;
  if (plan.concurrency > 0) out.concurrency = static_cast<double>(plan.concurrency);
  out.sched_lag_p99_ms = result.pace.lag_p99;
  out.marks = result.summary.marks;
  const TargetSettings& target = target_.settings();
  out.fingerprint["model"] = target.model;
  out.fingerprint["dialect"] = std::string(dialect_name(target.dialect));
  out.fingerprint["server"] = target_.address();
  out.fingerprint["mix"] = prompts_.mix();
  out.fingerprint["prompts_sha256"] = prompts_.digest();
  out.fingerprint["stream"] = plan.delivery == Delivery::kStreamed ? "true" : "false";
  out.fingerprint["connection_reuse"] = target.reuse == Reuse::kPooled ? "pooled" : "never";
  out.fingerprint["host"] = host_words();
}

Status Session::write_folder(SessionResult& result) {
  const auto path = [&](std::string_view name) { return concat(settings_.folder, "/", name); };
  Result<std::string> hash = state_->writer->finish();
  std::string probes;
  for (const runs::Probe& probe : result.probes) runs::append_probe(probes, probe);
  if (!probes.empty()) {
    if (Status kept = runs::write_file(path(runs::kProbesFile), probes); !kept.has_value()) {
      return kept;
    }
  }
  if (hash.has_value()) result.manifest.content_sha256 = *hash;
  const Status manifest =
      runs::write_file(path(runs::kManifestFile), runs::manifest_json(result.manifest));
  const Status summary = runs::write_file(path(runs::kSummaryFile), summary_json(result));
  if (!hash.has_value()) return fail(hash.error());
  return manifest.has_value() ? summary : manifest;
}

namespace {

void write_pace(json::Writer& writer, const PaceFigures& pace) {
  writer.begin_object();
  write_optional(writer, "rate_offered", pace.rate_offered);
  write_optional(writer, "rate_due", pace.rate_due);
  write_optional(writer, "rate_sent", pace.rate_sent);
  write_optional(writer, "sched_lag_p50_ms", pace.lag_p50);
  write_optional(writer, "sched_lag_p99_ms", pace.lag_p99);
  write_optional(writer, "sched_lag_max_ms", pace.lag_max);
  writer.field("late_1ms_share", pace.late_1ms);
  writer.field("late_10ms_share", pace.late_10ms);
  writer.field("late_100ms_share", pace.late_100ms);
  write_optional(writer, "loop_late_p99_ms", pace.timer_p99);
  write_optional(writer, "loop_late_max_ms", pace.timer_max);
  write_optional(writer, "receive_age_p50_ms", pace.receive_age_p50);
  write_optional(writer, "receive_age_p99_ms", pace.receive_age_p99);
  write_optional(writer, "receive_age_max_ms", pace.receive_age_max);
  writer.field("connections", pace.connections);
  writer.field("reused", pace.reused);
  writer.end_object();
}

void write_errors(json::Writer& writer, const SessionResult& result) {
  writer.begin_array();
  for (const auto& [name, count] : result.errors) {
    writer.begin_object();
    writer.field("class", name);
    writer.field("count", count);
    const auto words = result.first_words.find(name);
    writer.key("message");
    words == result.first_words.end() ? writer.null() : writer.value(words->second);
    writer.end_object();
  }
  writer.end_array();
}

void write_health(json::Writer& writer, const SessionResult& result) {
  writer.begin_object();
  for (const auto& [bucket, health] : result.health) {
    writer.key(bucket);
    writer.begin_object();
    writer.field("state", health_state_name(health.state));
    writer.key("parts");
    writer.begin_array();
    for (const HealthPart& part : health.parts) {
      writer.begin_object();
      writer.field("name", part.name);
      writer.field("state", health_state_name(part.state));
      writer.field("reason", part.english);
      writer.end_object();
    }
    writer.end_array();
    writer.end_object();
  }
  writer.end_object();
}

void write_probes(json::Writer& writer, const std::vector<runs::Probe>& probes) {
  writer.begin_object();
  for (const auto& [name, kind] :
       {std::pair{"rtt", runs::ProbeKind::kRtt}, std::pair{"canary", runs::ProbeKind::kCanary}}) {
    const Histogram durations = durations_of(probes, kind);
    writer.key(name);
    writer.begin_object();
    writer.field("n", durations.count());
    write_optional(writer, "p50_ms", quantile_ms(durations, 0.5));
    write_optional(writer, "p99_ms", quantile_ms(durations, 0.99));
    writer.end_object();
  }
  writer.end_object();
}

void write_outcomes(json::Writer& writer, const runs::Summary& summary) {
  writer.begin_object();
  for (const runs::BucketSummary& bucket : summary.buckets) {
    writer.key(bucket.name);
    writer.begin_object();
    for (int i = 0; i < runs::kRequestOutcomeCount; ++i) {
      const auto outcome = static_cast<runs::RequestOutcome>(i);
      writer.field(runs::outcome_name(outcome), bucket.counts.of[static_cast<size_t>(i)]);
    }
    writer.end_object();
  }
  writer.end_object();
}

}  // namespace

Histogram durations_of(const std::vector<runs::Probe>& probes, runs::ProbeKind kind) {
  Histogram out;
  for (const runs::Probe& probe : probes) {
    if (probe.kind == kind) out.record(probe.duration);
  }
  return out;
}

std::string summary_json(const SessionResult& result) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("date", result.manifest.started);
  writer.field("label", result.manifest.label);
  writer.field("interrupted", result.stopped);
  write_serving_fields(writer, result.figures, result.load);
  writer.key("marks");
  writer.begin_array();
  for (const std::string& mark : result.summary.marks) writer.value(mark);
  writer.end_array();
  writer.key("pace");
  write_pace(writer, result.pace);
  writer.key("outcomes");
  write_outcomes(writer, result.summary);
  writer.key("errors");
  write_errors(writer, result);
  writer.key("health");
  write_health(writer, result);
  writer.field("records", result.records);
  writer.field("gateway_calls", result.gateway_calls);
  writer.key("probes");
  write_probes(writer, result.probes);
  writer.key("metrics");
  runs::write_metrics(writer, result.summary);
  writer.end_object();
  return out + "\n";
}

std::string preflight_request(const Target& target) {
  // Some reasoning models refuse fewer.
  constexpr int kPreflightTokens = 16;
  Prompt prompt;
  prompt.text = "Count from one to ten in words.";
  prompt.max_tokens = kPreflightTokens;
  return target.compose(prompt, Delivery::kWhole);
}

Result<std::unique_ptr<Job>> ask_once(const Target& target, const ClientLimits& limits,
                                      std::string_view ca_pem, std::string bytes) {
  net::Loop loop(0);
  Result<std::unique_ptr<Client>> client = Client::make(loop, target, limits, ca_pem);
  if (!client.has_value()) return fail(client.error());
  auto job = std::make_unique<Job>();
  job->delivery = Delivery::kWhole;
  job->bytes = std::move(bytes);
  job->record.t_sched = job->record.t_disp = monotonic_ns();
  auto perform = [](net::Loop& on, Client& by, Job& what) -> net::Task<void> {
    co_await by.perform(what);
    on.stop();
  };
  loop.spawn(perform(loop, **client, *job));
  loop.run();
  return job;
}

}  // namespace hw::sampler
