// Session: one run of the sampler, from the first connection to the last file of its folder.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runs/manifest.h"
#include "runs/summary.h"
#include "sampler/health.h"
#include "sampler/link_probes.h"
#include "sampler/load.h"
#include "sampler/serving_figures.h"

namespace hw::sampler {

// What is run, and where it is kept.
struct SessionSettings {
  LoadPlan plan;
  ClientLimits limits;
  ProbePlan probes;
  Objectives objectives;
  std::string ca_pem;              // roots trusted beside the system's
  std::string folder;              // exists; empty: nothing is written
  runs::Manifest manifest;         // label, command, metadata, seed; the rest is filled in
  std::vector<std::string> marks;  // known before it began: "triple_changed"
};

// How well the run kept to its plan; milliseconds.
struct PaceFigures {
  std::optional<double> rate_offered, rate_due, rate_sent;  // requests a second
  std::optional<double> lag_p50, lag_p99, lag_max;          // of the schedule; open loops
  double late_1ms = 0, late_10ms = 0, late_100ms = 0;       // shares of requests
  std::optional<double> timer_p99, timer_max;               // how late the loop woke
  std::optional<double> receive_age_p50, receive_age_p99, receive_age_max;
  uint64_t connections = 0, reused = 0;
};

// What came of it.
struct SessionResult {
  runs::Summary summary;
  ServingFigures figures;
  ServingLoad load;
  PaceFigures pace;
  std::map<std::string, size_t> errors;  // "stream_error truncated": how many, of what failed
  std::map<std::string, std::string> first_words;      // what the first of each said
  std::vector<std::pair<std::string, Health>> health;  // by bucket
  runs::Manifest manifest;
  bool stopped = false;             // somebody wanted no more
  std::optional<Error> disk;        // the folder lacks what came after this
  std::vector<runs::Probe> probes;  // of the link, beside the run
  size_t records = 0;               // in the folder
  size_t gateway_calls = 0;         // of them joined with the gateway's own record
};

// Runs once, on the calling thread.
class Session {
 public:
  // `on_record` hears of each request when it is over. References outlive this.
  Session(const Target& target, PromptSource& prompts, SessionSettings settings,
          std::function<void(const Load&, const runs::Record&)> on_record);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs the load to its end and writes the folder. Errors: kConfig where the client cannot be set
  // up or the folder cannot be written at all. Once.
  Result<SessionResult> run();
  // Asks for an early end, from any thread: what is under way is cut, and run() returns with what
  // there is.
  void stop();

 private:
  struct State;
  net::Task<void> perform();
  net::Task<void> join_gateway_calls();
  void take(Job& job);
  void write(const runs::Record& record);
  Result<SessionResult> finish();
  void fill_pace(SessionResult& result) const;
  void fill_manifest(SessionResult& result) const;
  Status write_folder(SessionResult& result);

  const Target& target_;
  PromptSource& prompts_;
  SessionSettings settings_;
  std::function<void(const Load&, const runs::Record&)> on_record_;
  std::unique_ptr<State> state_;
};

// The durations of one kind, nanoseconds.
Histogram durations_of(const std::vector<runs::Probe>& probes, runs::ProbeKind kind);

// The document summary.json, with a line feed.
std::string summary_json(const SessionResult& result);

// Sends `bytes` alone, outside any run, and gives what came of it in one piece. kConfig as above.
Result<std::unique_ptr<Job>> ask_once(const Target& target, const ClientLimits& limits,
                                      std::string_view ca_pem, std::string bytes);

// The request that shows whether the access works at all: it does where its outcome is `ok`.
std::string preflight_request(const Target& target);

}  // namespace hw::sampler
