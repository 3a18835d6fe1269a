#include "comparison/run.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "json/scan.h"

namespace hw::comparison {
namespace {

constexpr double kNanosPerMs = 1e6;

double ms(Nanos nanos) {
  return static_cast<double>(nanos) / kNanosPerMs;
}

// What the gateway's own record of the call says.
struct GatewayFacts {
  std::optional<double> ttft_ms;
  double own_ms = 0;
  runs::EngineTimes engine;
};

bool is_gateway_stage(std::string_view name) {
  return name == "authorize" || name == "queue" || name == "route" || name == "pool" ||
         name == "failed" || name == "backoff";
}

GatewayFacts gateway_facts(const std::string& call) {
  GatewayFacts out;
  if (call.empty()) return out;
  json::Document document(ErrorCode::kConfig);
  if (!document.open(call)) return out;
  const json::Object root = document.root();
  if (const auto ttft = root.find("ttft_ns").integer()) out.ttft_ms = ms(*ttft);
  root.find("stages").array().each([&](json::Value value) {
    const json::Object stage = value.object();
    const auto begin = stage.find("start_ns").integer(), end = stage.find("end_ns").integer();
    if (!begin || !end || *begin < 0 || *end < *begin) return;
    if (is_gateway_stage(stage.find("stage").text_or(""))) out.own_ms += ms(*end - *begin);
  });
  const json::Object engine = root.find("engine").object();
  out.engine.queue_ns = engine.find("queue_ns").integer();
  out.engine.prefill_ns = engine.find("prefill_ns").integer();
  if (!document.finish()) return {};
  return out;
}

double& of(RequestFacts& facts, Part part) {
  return facts.parts_ms[static_cast<size_t>(part)];
}

// Splits TTFT so that the parts sum to it. Durations that exceed what is left are cut: clocks of
// other hosts may not make the link negative.
void split_ttft(const runs::Record& record, RequestFacts& out, bool& engine, bool& gateway) {
  double left = *out.ttft_ms;
  const auto take = [&](Part part, double duration) {
    const double taken = std::clamp(duration, 0.0, left);
    of(out, part) = taken;
    left -= taken;
  };
  const GatewayFacts facts = gateway_facts(record.gateway_call);
  const auto queue = record.engine.queue_ns ? record.engine.queue_ns : facts.engine.queue_ns;
  const auto prefill =
      record.engine.prefill_ns ? record.engine.prefill_ns : facts.engine.prefill_ns;
  engine = prefill.has_value();
  gateway = facts.ttft_ms.has_value();
  if (engine) {
    take(Part::kPrefill, ms(*prefill));
    take(Part::kQueue, ms(queue.value_or(0)));
  }
  if (gateway) take(Part::kGateway, facts.own_ms);
  // The gateway knows what it waited for its upstream; without the engine's word that is one part.
  if (gateway && !engine) take(Part::kUpstream, *facts.ttft_ms - facts.own_ms);
  take(engine || gateway ? Part::kLink : Part::kUpstream, left);
}

std::optional<double> in_ms(std::optional<double> nanos) {
  return nanos ? std::optional(*nanos / kNanosPerMs) : std::nullopt;
}

}  // namespace

const runs::BucketSummary* Run::bucket(std::string_view name) const {
  const auto found = std::find_if(summary.buckets.begin(), summary.buckets.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == summary.buckets.end() ? nullptr : &*found;
}

void RunBuilder::count_events(const runs::Record& record) {
  constexpr Nanos kLow = 36 * kMillisecond, kHigh = 44 * kMillisecond;
  events_ += record.tokens.size();
  for (size_t i = 0; i < record.tokens.size(); ++i) {
    coalesced_ += record.tokens[i].events_in_read > 1 ? 1 : 0;
    if (i == 0) continue;
    const Nanos gap = record.tokens[i].at - record.tokens[i - 1].at;
    ++gaps_;
    gaps_near_40_ += gap >= kLow && gap <= kHigh ? 1 : 0;
  }
  if (record.reused) ++(*record.reused ? reused_ : dialled_);
}

void RunBuilder::add(const runs::Record& record) {
  samples_.add(record);
  if (record.phase != runs::Phase::kSteady) return;
  if (record.t_conn0 && record.t_tcp && *record.t_tcp >= *record.t_conn0) {
    run_.round_trips_ms.push_back(ms(*record.t_tcp - record.t_dns.value_or(*record.t_conn0)));
  }
  if (record.outcome != runs::RequestOutcome::kOk) return;
  count_events(record);
  RequestFacts facts;
  facts.start = record.t_tx0.value_or(record.t_sched.value_or(0));
  facts.bucket = record.bucket;
  facts.ttft_ms = in_ms(runs::metric_ns(runs::Metric::kTtft, record));
  facts.tpot_ms = in_ms(runs::metric_ns(runs::Metric::kTpot, record));
  facts.n_in = record.n_in, facts.n_out = record.n_out;
  facts.cached_tokens = record.cached_tokens;
  bool engine = false, gateway = false;
  if (facts.ttft_ms) split_ttft(record, facts, engine, gateway);
  told_engine_ += engine ? 1 : 0;
  told_gateway_ += gateway ? 1 : 0;
  run_.requests.push_back(std::move(facts));
}

Run RunBuilder::finish() {
  samples_.finish();
  run_.summary = runs::summarize(samples_);
  std::sort(run_.requests.begin(), run_.requests.end(),
            [](const RequestFacts& a, const RequestFacts& b) { return a.start < b.start; });
  const auto share = [](size_t part, size_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  };
  run_.coalesced_share = share(coalesced_, events_);
  run_.gaps_near_40_share = share(gaps_near_40_, gaps_);
  if (dialled_ + reused_ > 0) run_.dialled_share = share(dialled_, dialled_ + reused_);
  // A few answers without timings do not make a run unknown, nor a few with them known.
  const size_t most = run_.requests.size() * 9 / 10;
  run_.knows_engine = told_engine_ > most;
  run_.knows_gateway = told_gateway_ > most;
  return std::move(run_);
}

Result<Run> load_run(const std::string& folder, Edited edited) {
  RunBuilder builder;
  Result<runs::FolderFacts> facts =
      runs::read_run(folder, [&](const runs::Record& record) { builder.add(record); });
  if (!facts) return fail(facts.error());
  if (facts->is_edited() && edited == Edited::kRefused) {
    return fail(ErrorCode::kConfig, concat(folder,
                                           ": requests.jsonl is not what the manifest's hash says; "
                                           "--allow-edited reads it all the same"));
  }
  std::vector<double> probes;
  const Status read = runs::read_probes(folder, [&](const runs::Probe& probe) {
    if (probe.kind == runs::ProbeKind::kRtt) probes.push_back(ms(probe.duration));
  });
  if (!read) return fail(read.error());
  Run run = builder.finish();
  if (run.summary.buckets.front().counts.judged() == 0) {
    return fail(ErrorCode::kConfig, concat(folder, ": no request of the steady phase"));
  }
  if (!probes.empty()) run.round_trips_ms = std::move(probes);
  run.path = folder;
  run.manifest = facts->manifest;
  run.folder = *std::move(facts);
  return run;
}

}  // namespace hw::comparison
