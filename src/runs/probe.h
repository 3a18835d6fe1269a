// Probe: one measurement of the link beside the requests, as one line of probes.jsonl holds it.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace hw::runs {

// What was measured, on a connection of its own.
enum class ProbeKind : uint8_t {
  kRtt,     // a TCP handshake
  kCanary,  // a tiny request with one token of output, first byte sent to first token
};

// {"t": ns, "kind": "rtt"|"canary", "ns": duration}; a probe that failed has no line.
struct Probe {
  Nanos at = 0;
  ProbeKind kind = ProbeKind::kRtt;
  Nanos duration = 0;
};

// Appends one line with its line feed.
void append_probe(std::string& out, const Probe& probe);
// Reads one line. kConfig where it lacks a member or has a negative duration.
Result<Probe> parse_probe(std::string_view line);

}  // namespace hw::runs
