// Trial: a scheduler under a clock of its own, with memory behind its blocks that is checked: for
// tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "scheduler/invariants.h"
#include "scheduler/scheduler.h"

namespace hw::scheduler {

// What each block would hold on a GPU: for each position its token and all that came before it.
// Every step is computed into it, and what a step reads must be what its sequence says.
class CheckedMemory {
 public:
  explicit CheckedMemory(const Options& options)
      : cells_(static_cast<size_t>(options.kv_blocks) * kBlockTokens) {}

  // Empty, or what a step found wrong in what it reads.
  std::string compute(const StepPlan& plan) {
    for (const StepItem& item : plan.items) {
      mark(*item.sequence, item.start + item.count);
      for (int at = item.start; at < item.start + item.count; ++at) {
        cell(*item.sequence, at) = marks_[static_cast<size_t>(at)];
      }
    }
    for (const StepItem& item : plan.items) {
      mark(*item.sequence, item.start + item.count);
      for (int at = 0; at < item.start + item.count; ++at) {
        if (cell(*item.sequence, at) != marks_[static_cast<size_t>(at)]) {
          return concat("sequence ", item.sequence->number, " reads at position ", at,
                        " what is not its own");
        }
      }
    }
    return {};
  }

 private:
  uint64_t& cell(const Sequence& sequence, int at) {
    const BlockId block = sequence.blocks[static_cast<size_t>(at / kBlockTokens)];
    return cells_[static_cast<size_t>(block * kBlockTokens + at % kBlockTokens)];
  }
  // What the first positions of a sequence hold: each its token and all before. Of one without
  // content, what it was given hashes for, and beyond that nothing that anybody shares.
  void mark(const Sequence& sequence, int count) {
    marks_.clear();
    uint64_t mark = chain_root({}, sequence.request.cache_salt).low;
    for (int at = 0; at < count; ++at) {
      const auto index = static_cast<size_t>(at);
      if (sequence.has_content) {
        mark = (mark ^ static_cast<uint64_t>(sequence.tokens[index])) * 0x100000001b3 + 1;
      } else if (index / kBlockTokens < sequence.hashes.size()) {
        mark = sequence.hashes[index / kBlockTokens].low + index;
      } else {
        mark = sequence.number * 1'000'003 + index;
      }
      marks_.push_back(mark);
    }
  }

  std::vector<uint64_t> cells_;
  std::vector<uint64_t> marks_;
};

// Drives one scheduler; members say what has happened so far.
struct Trial {
  explicit Trial(const Options& options) : scheduler(options), memory(options) {}

  // Queues a request that has arrived now; its number.
  RequestNumber add(Request request) {
    request.number = ++last;
    request.arrived = now;
    const Status added = scheduler.add(std::move(request));
    error = added ? std::string() : added.error().message;
    return last;
  }
  // One step that takes a millisecond; false where there was nothing to do. Each sample is a token
  // made of the sequence's number and length; `end_token` ends.
  bool step(StepOutcome outcome = StepOutcome::kDone) {
    if (!begin()) return collect(), false;
    complete(outcome);
    return true;
  }
  bool begin() {
    plan = &scheduler.schedule(now);
    if (plan->items.empty()) return false;
    memory_error += memory.compute(*plan);
    return true;
  }
  void complete(StepOutcome outcome = StepOutcome::kDone) {
    StepResult result;
    result.outcome = outcome;
    for (const StepItem& item : plan->items) {
      if (outcome != StepOutcome::kDone || !item.sample) continue;
      const int token = token_of(*item.sequence);
      result.sampled.push_back({token, token == end_token});
    }
    now += kMillisecond;
    scheduler.apply(result, now);
    collect();
  }
  // Until nothing is left to do; false if it does not get there.
  bool run() {
    for (int i = 0; i < 100'000; ++i) {
      if (!step() && !plan->wake) return true;
      if (plan->wake && plan->items.empty()) now = *plan->wake;
    }
    return false;
  }
  int token_of(const Sequence& sequence) const {
    if (script) return script(sequence);
    return static_cast<int>(sequence.number) * 1000 + sequence.length;
  }
  void collect() {
    std::vector<Event> events;
    scheduler.take_events(events);
    for (const Event& event : events) {
      const RequestNumber number = event.sequence->number;
      switch (event.kind) {
        case Event::Kind::kAdmitted:
          admitted.push_back(number);
          break;
        case Event::Kind::kToken:
          ++tokens[number];
          break;
        case Event::Kind::kPreempted:
          preempted.push_back(number);
          break;
        case Event::Kind::kWaitedLong:
          warned[number] = event.hold;
          break;
        case Event::Kind::kFinished:
          if (ended.contains(number)) memory_error += "a sequence ended twice";
          ended.insert({number, *event.sequence});
          break;
      }
    }
  }
  // The step's items as "number:start+count", for comparing.
  std::string items() const {
    std::string text;
    for (const StepItem& item : plan->items) {
      text +=
          concat(text.empty() ? "" : " ", item.sequence->number, ":", item.start, "+", item.count);
    }
    return text;
  }
  int64_t used() const { return scheduler.load().blocks_used; }

  Scheduler scheduler;
  CheckedMemory memory;
  Nanos now = kSecond;
  const StepPlan* plan = nullptr;
  RequestNumber last = 0;
  int end_token = -1;
  int (*script)(const Sequence&) = nullptr;
  std::string error;         // of the last add()
  std::string memory_error;  // empty, or what went wrong
  std::vector<RequestNumber> admitted;
  std::vector<RequestNumber> preempted;
  std::map<RequestNumber, Hold> warned;
  std::map<RequestNumber, int> tokens;
  std::map<RequestNumber, Sequence> ended;
};

// A request of so many tokens, each its position plus `first`.
inline Request prompt_of(int tokens, int output_tokens_max, int first = 0) {
  Request request;
  for (int i = 0; i < tokens; ++i) request.prompt.push_back(first + i);
  request.output_tokens_max = output_tokens_max;
  return request;
}

// 4 sequences, steps of 64 tokens, 63 blocks, sequences of up to 512 tokens.
inline Options small_options() {
  Options options;
  options.max_num_seqs = 4;
  options.max_num_batched_tokens = 64;
  options.max_model_len = 512;
  options.kv_blocks = 64;
  return options;
}

}  // namespace hw::scheduler
