// Run: one run folder, read into what comparisons need.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runs/run_folder.h"
#include "runs/summary.h"

namespace hw::comparison {

// Where the time up to the first token went; the parts of a request sum to its TTFT exactly.
enum class Part : uint8_t {
  kQueue,     // waiting inside the engine
  kPrefill,   // computing the prompt
  kGateway,   // the gateway's own stages: authorize, queue, route, pool, retries
  kLink,      // the rest, where the parts above are known: networks and interfaces
  kUpstream,  // model and link together, where nobody told them apart
};
inline constexpr int kPartCount = static_cast<int>(Part::kUpstream) + 1;

// One request that ended well in the steady phase; milliseconds.
struct RequestFacts {
  Nanos start = 0;
  std::string bucket;
  std::optional<double> ttft_ms, tpot_ms;
  std::array<double, kPartCount> parts_ms{};  // of ttft_ms
  std::optional<int64_t> n_in, n_out, cached_tokens;
};

// One run.
struct Run {
  std::string path;
  std::optional<runs::Manifest> manifest;
  runs::FolderFacts folder;
  runs::Summary summary;
  std::vector<RequestFacts> requests;   // in the order of starts
  std::vector<double> round_trips_ms;   // of probes, else of TCP handshakes
  double coalesced_share = 0;           // of token events: came together with another in one read
  double gaps_near_40_share = 0;        // of gaps between tokens: 36 to 44 ms
  std::optional<double> dialled_share;  // of requests: on a new connection
  bool knows_engine = false, knows_gateway = false;  // most requests tell these parts

  // The bucket's summary, or null.
  const runs::BucketSummary* bucket(std::string_view name) const;
};

// Whether a folder whose content is not what its manifest says is read all the same.
enum class Edited : unsigned char { kRefused, kAllowed };

// Reads the folder. kConfig where it cannot be read, holds no request, or was edited.
Result<Run> load_run(const std::string& folder, Edited edited);

// Collects the requests of a run that is at hand: add() each, then finish(). load_run() uses it.
class RunBuilder {
 public:
  void add(const runs::Record& record);
  // The run without its manifest and probes.
  Run finish();

 private:
  void count_events(const runs::Record& record);

  runs::SampleSet samples_;
  Run run_;
  size_t told_engine_ = 0, told_gateway_ = 0;
  size_t events_ = 0, coalesced_ = 0, gaps_ = 0, gaps_near_40_ = 0, dialled_ = 0, reused_ = 0;
};

}  // namespace hw::comparison
