// The scheduler behind a pipe: a trace is read line by line and what happens is written, so that it
// can be compared with tests/scheduler/rules.py. Lines are described in
// tests/scheduler/__main__.py.
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "scheduler/invariants.h"
#include "scheduler/scheduler.h"

namespace hw::scheduler {
namespace {

using Words = std::map<std::string, std::string>;

// "a=1 b=2" of the rest of a line.
Words words_of(std::istringstream& line) {
  Words words;
  for (std::string word; line >> word;) {
    const size_t equal = word.find('=');
    words[word.substr(0, equal)] = word.substr(equal + 1);
  }
  return words;
}

int64_t number_of(const Words& words, const std::string& name) {
  return std::stoll(words.at(name));
}

Options options_of(const Words& words) {
  const auto integer = [&](const char* name) { return static_cast<int>(number_of(words, name)); };
  Options options;
  options.max_num_seqs = integer("max_num_seqs");
  options.max_num_batched_tokens = integer("max_num_batched_tokens");
  options.enable_chunked_prefill = integer("enable_chunked_prefill") != 0;
  options.long_prefill_token_threshold = integer("long_prefill_token_threshold");
  options.policy = words.at("policy") == "priority" ? Policy::kPriority : Policy::kFcfs;
  options.watermark = std::stod(words.at("watermark"));
  options.reserve_full_prompt = integer("reserve_full_prompt") != 0;
  options.max_model_len = integer("max_model_len");
  options.batch_wait_ns = number_of(words, "batch_wait");
  options.max_concurrent_requests = integer("max_concurrent_requests");
  options.queue_warn_ns = number_of(words, "queue_warn");
  options.group_by_length_factor = std::stod(words.at("group_by_length_factor"));
  options.enable_prefix_caching = integer("enable_prefix_caching") != 0;
  options.cache_when =
      words.at("cache_when") == "computed" ? CacheWhen::kComputed : CacheWhen::kScheduled;
  options.cached_blocks_per_place_max = integer("cached_blocks_per_place_max");
  options.kv_blocks = number_of(words, "kv_blocks");
  return options;
}

// "0+30,500+4": thirty tokens from 0 on, four from 500 on.
std::vector<Token> tokens_of(const std::string& runs) {
  std::vector<Token> tokens;
  std::istringstream list(runs);
  for (std::string run; std::getline(list, run, ',');) {
    const size_t plus = run.find('+');
    const int first = std::stoi(run.substr(0, plus));
    for (int i = 0; i < std::stoi(run.substr(plus + 1)); ++i) tokens.push_back(first + i);
  }
  return tokens;
}

Request request_of(const Words& words) {
  const auto integer = [&](const char* name) { return static_cast<int>(number_of(words, name)); };
  Request request;
  request.number = static_cast<RequestNumber>(number_of(words, "number"));
  request.arrived = number_of(words, "arrived");
  request.prompt = tokens_of(words.at("runs"));
  request.output_tokens_max = integer("output");
  request.output_tokens_min = integer("min");
  request.ignore_end = integer("ignore_end") != 0;
  if (integer("stop") != 0) request.stop_tokens = {integer("stop")};
  request.priority = integer("priority");
  request.timeout_ns = number_of(words, "timeout");
  request.cache_salt = words.at("salt");
  return request;
}

void write_plan(const StepPlan& plan) {
  std::string text = "plan";
  for (const StepItem& item : plan.items) {
    append(text, concat(" ", item.sequence->number, ":", item.start, "+", item.count, "@",
                        item.sequence->slot, "h", item.hit_tokens, "s",
                        static_cast<int>(item.sample), "["));
    for (const BlockId block : item.sequence->blocks) append(text, concat(block, ","));
    text += "]";
  }
  text += " released";
  for (const int slot : plan.released) append(text, concat(" ", slot));
  text += " changes";
  for (const CacheChange& change : plan.cache_changes) {
    append(text, change.kind == CacheChange::Kind::kKept
                     ? concat(" K", change.block, "@", change.slot, "#", change.place)
                     : concat(" D", change.block));
  }
  append(text, concat(" held ", plan.held ? hold_name(*plan.held) : "-", " wake ",
                      plan.wake ? std::to_string(*plan.wake) : "-"));
  std::cout << text << "\n";
}

void write_end(const Sequence& sequence) {
  std::string text =
      concat("finished ", sequence.number, " ", finish_reason_name(sequence.finish_reason),
             " tokens ", sequence.length, " cached ", sequence.cached_tokens, " preemptions ",
             sequence.preemptions, " waits ");
  for (size_t i = 0; i < kHoldCount; ++i) {
    append(text, concat(i == 0 ? "" : ",", sequence.waits.ns[i], "/", sequence.waits.steps[i]));
  }
  std::cout << text << "\n";
}

void write_events(Scheduler& scheduler) {
  std::vector<Event> events;
  scheduler.take_events(events);
  for (const Event& event : events) {
    const RequestNumber number = event.sequence->number;
    switch (event.kind) {
      case Event::Kind::kAdmitted:
        std::cout << "admitted " << number << "\n";
        break;
      case Event::Kind::kToken:
        std::cout << "token " << number << " " << event.token.token << " " << event.token.ends
                  << "\n";
        break;
      case Event::Kind::kPreempted:
        std::cout << "preempted " << number << "\n";
        break;
      case Event::Kind::kWaitedLong:
        std::cout << "late " << number << "\n";
        break;
      case Event::Kind::kFinished:
        write_end(*event.sequence);
        break;
    }
  }
}

FinishReason reason_of(const std::string& name) {
  for (int i = 0; i < kFinishReasonCount; ++i) {
    if (finish_reason_name(static_cast<FinishReason>(i)) == name)
      return static_cast<FinishReason>(i);
  }
  return FinishReason::kError;
}

// "done 17/0 18/1": the tokens, and whether each ends; or "failed".
StepResult result_of(std::istringstream& line) {
  StepResult result;
  std::string outcome;
  line >> outcome;
  if (outcome == "failed") result.outcome = StepOutcome::kFailed;
  for (std::string word; line >> word;) {
    const size_t slash = word.find('/');
    result.sampled.push_back({std::stoi(word.substr(0, slash)), word.substr(slash + 1) == "1"});
  }
  return result;
}

void follow(const std::string& command, std::istringstream& line, Scheduler& scheduler) {
  Nanos now = 0;
  if (command == "add") {
    const Status added = scheduler.add(request_of(words_of(line)));
    std::cout << (added ? "added" : "refused") << "\n";
  } else if (command == "finish") {
    RequestNumber number = 0;
    std::string reason;
    line >> number >> reason >> now;
    scheduler.finish(number, reason_of(reason), now);
  } else if (command == "schedule") {
    line >> now;
    write_plan(scheduler.schedule(now));
  } else if (command == "apply") {
    line >> now;
    scheduler.apply(result_of(line), now);
  } else if (command == "lose") {
    line >> now;
    scheduler.lose_backend(now);
  } else if (command == "reset") {
    std::cout << (scheduler.reset_prefix_cache() ? "emptied" : "in use") << "\n";
  }
  write_events(scheduler);
  const Load load = scheduler.load();
  std::cout << "load " << load.running << " " << load.waiting << " " << load.blocks_used << "\n";
}

int run() {
  std::unique_ptr<Scheduler> scheduler;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string command;
    line >> command;
    if (command == "options") {
      scheduler = std::make_unique<Scheduler>(options_of(words_of(line)));
      std::cout << "ready\n";
    } else {
      follow(command, line, *scheduler);
    }
    const std::string broken = broken_invariant(*scheduler);
    if (!broken.empty()) std::cout << "broken: " << broken << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace hw::scheduler

int main() {
  std::ios::sync_with_stdio(false);
  return hw::scheduler::run();
}
