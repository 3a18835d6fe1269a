// CallSink: where a loop hands over the calls of its exchanges; the store's journal in production,
// a vector in tests.
//
// Protocol, on the loop's own thread:
//   sink.begin(call);   // once, before the first byte to any upstream; may be left out where there
//                       // is no upstream (rejected requests)
//   sink.end(call);     // once, when the exchange is over
// Neither waits, locks or fails visibly: what finds no room is counted
// (headway_store_lost_calls_total). A begin without an end in a process that died becomes a call
// with outcome `interrupted`.
#pragma once

#include <vector>

#include "timeline/call.h"

namespace hw::store {

class CallSink {
 public:
  virtual ~CallSink() = default;
  // Keeps what is known so far: id, key, model, stamps, the channel of the attempt at hand.
  virtual void begin(const timeline::Call& call) = 0;
  // Keeps the whole record, failed and rejected ones as well.
  virtual void end(const timeline::Call& call) = 0;
};

// Keeps every call in memory; for tests and for a gateway without a store. Not thread-safe.
class MemorySink final : public CallSink {
 public:
  void begin(const timeline::Call& call) override { begun.push_back(call); }
  void end(const timeline::Call& call) override { ended.push_back(call); }
  std::vector<timeline::Call> begun, ended;
};

}  // namespace hw::store
