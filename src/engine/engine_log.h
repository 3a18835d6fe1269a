// EngineLog: JSON lines about requests and steps, for whoever wants to see each of them.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/backend.h"
#include "scheduler/sequence.h"

namespace hw::engine {

// Lines go out with one write(2) each, on the thread of whoever calls: into a file that takes a few
// microseconds; a slow disk is felt by the engine. A line that cannot be written is lost, which is
// logged once.
class EngineLog {
 public:
  EngineLog() = default;
  ~EngineLog();
  EngineLog(const EngineLog&) = delete;
  EngineLog& operator=(const EngineLog&) = delete;

  // "-" is standard error; other paths are appended to; an empty one: no such lines. kConfig where
  // a file cannot be opened.
  Status open(const std::string& requests, const std::string& steps);

  // A sequence that is over. `id` as whoever asked calls it, by which it is found at a gateway;
  // four times as RFC 3339 by the wall clock, null where they never came; the waits by their
  // reasons. `wall_offset`: wall minus monotonic clock.
  void request(const std::string& id, const scheduler::Sequence& sequence, Nanos wall_offset);
  // A step that has ended. `predicted` 0: unknown.
  void step(int64_t number, const StepShape& shape, Nanos began, Nanos took, Nanos predicted,
            StepOutcome outcome, Nanos wall_offset);

  // Whether there are such lines, so that others need not be made.
  bool has_requests() const { return requests_ >= 0; }
  bool has_steps() const { return steps_ >= 0; }

 private:
  void put(int file, std::string& line);

  int requests_ = -1;
  int steps_ = -1;
  bool lost_ = false;
};

}  // namespace hw::engine
