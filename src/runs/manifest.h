// Manifest: what a run was: how it was made, and everything that must be equal for two runs to be
// compared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hw::runs {

// manifest.json. Fields that are unknown to this version are kept out, not refused.
struct Manifest {
  static constexpr int kSchema = 1;

  int schema = kSchema;
  std::string content_sha256;  // of requests.jsonl, 64 hex digits
  std::string started;         // wall clock, RFC 3339
  std::string label;
  std::string command;  // as typed, without secrets
  // What must be equal: "model", "dialect", "server", "mix", "prompts_sha256", "stream",
  // "connection_reuse", "max_tokens", "client", "host", ... Free names, as text.
  std::map<std::string, std::string> fingerprint;
  std::map<std::string, std::string> metadata;  // --metadata k=v, never compared
  std::optional<uint64_t> seed;
  std::string load;                                   // "closed" or "open"
  std::optional<double> offered_rate, achieved_rate;  // requests a second
  std::optional<double> concurrency;                  // of a closed loop
  std::optional<double> sched_lag_p99_ms;
  std::vector<std::string> marks;  // as in summary.json: "client_limited", "drifting", ...

  // Whether `mark` is among the marks.
  bool has_mark(std::string_view mark) const;
};

// Longest manifest that is read.
inline constexpr size_t kManifestBytesMax = size_t{4} << 20;

// The whole file, with a line feed at its end.
std::string manifest_json(const Manifest& manifest);

// Reads the file's text. kConfig for what is no JSON object or too long.
Result<Manifest> parse_manifest(std::string_view text);

}  // namespace hw::runs
