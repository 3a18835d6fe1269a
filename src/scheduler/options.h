// Options of the scheduler: vLLM v1's settings under its names and the article's beside them, each
// with its default, its reason, and where it differs from vLLM.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "scheduler/block_hash.h"

namespace hw::scheduler {

// Who is next, and who gives way when blocks run out.
enum class Policy : uint8_t {
  kFcfs,      // first come, first served; the one admitted last gives way
  kPriority,  // by (priority, arrived, number), lower first; the last by that order gives way
};

// A prompt above max_input_len.
enum class InputTooLong : uint8_t {
  kReject,    // refused, with the numbers
  kTruncate,  // its last max_input_len tokens are kept
};

// When others can find a full block.
enum class CacheWhen : uint8_t {
  kScheduled,  // as soon as its step is planned, as vLLM: shared within a step
  kComputed,  // when its step is done: for a backend that copies keys and values before it computes
};

// Settings of one scheduler. What is not said to differ is vLLM v1's.
struct Options {
  // Most sequences that run at once; the article's max_batch_size. 1 to 65536.
  int max_num_seqs = 256;
  // Most tokens computed in one step. At least max_num_seqs, for each may decode one.
  int max_num_batched_tokens = 8192;
  // Off: a prompt is computed in one step or not at all. vLLM then wants the budget to be at least
  // max_model_len; here a prompt above the budget is refused instead, and a preempted sequence that
  // grew above it is computed in pieces when a whole step is free.
  bool enable_chunked_prefill = true;
  // Most tokens that one prompt gets of a step; 0: all that is left. Needs chunked prefill.
  int long_prefill_token_threshold = 0;
  Policy policy = Policy::kFcfs;
  // Share of the blocks that must stay free when one is admitted while others run. 0 to 0.5.
  double watermark = 0.0;
  // All tokens known of a sequence must find room before it is admitted, not only its first chunk:
  // else prompts take each other's blocks in turn. vLLM's scheduler_reserve_full_isl.
  bool reserve_full_prompt = true;
  // Prompt and answer together; a sequence of this length ends by length.
  int max_model_len = 8192;
  // Prompt alone; 0: max_model_len - 1. Ours.
  int max_input_len = 0;
  InputTooLong on_input_too_long = InputTooLong::kReject;
  // How long an idle instance waits for company before its first step, from the first arrival on.
  // Ours: vLLM never waits, which is 0. While something runs, and with max_num_seqs waiting, nobody
  // is held back.
  Nanos batch_wait_ns = 0;
  // Waiting and running together; one more is refused. Ours: vLLM queues without end. 0: no limit.
  int max_concurrent_requests = 0;
  // From arrival to the last token, waiting included. Ours: vLLM has none, which is 0.
  Nanos request_timeout_ns = 0;
  // A longer wait for the first step is told once, with what held it. Ours. 0: never.
  Nanos queue_warn_ns = 0;
  // Ours: no two sequences run together of which one is longer than the other by more than this
  // factor (prompt and answer so far, when admitted). 0: off; else at least 1.
  double group_by_length_factor = 0.0;
  // Full blocks are kept by their hash, and found again by requests that begin alike.
  bool enable_prefix_caching = false;
  CacheWhen cache_when = CacheWhen::kScheduled;
  // Most cached blocks at the same place (the first, the second, ...) of their sequences; 0: no
  // limit. Ours, for a backend that keeps cached blocks in so many sequences of its own.
  int cached_blocks_per_place_max = 0;
  // Blocks of kBlockTokens tokens, the null block included, as vLLM's log has them. 2 to 2^30.
  int64_t kv_blocks = 0;
  HashKey hash_key;
  // Off: tokens make no events; for simulation, which reads the plan instead.
  bool token_events = true;

  // max_input_len with its default put in, and what chunked_prefill makes of it.
  int input_len_max() const;
};

// kConfig, with the setting's name and what was expected, where they contradict each other.
Status validate(const Options& options);

}  // namespace hw::scheduler
