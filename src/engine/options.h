// Settings of one inference instance, each with its default and its reason. Filled by app from
// engine.toml, whose sections and names these are; limits.h turns them into what really holds.
#pragma once

#include <cstdint>
#include <string>

#include "scheduler/options.h"

namespace hw::engine {

// [server]
struct ServerOptions {
  std::string host = "127.0.0.1";  // nothing is reachable from outside unless asked for
  uint16_t port = 8000;            // vLLM's; 0: any free port
  // Waiting and running together. Above it a request is refused at once with 429: a queue without
  // end only turns overload into time-outs. 1 to 65536.
  int max_concurrent_requests = 256;
  // From a request's arrival to its last token, waiting included. 1 to 86400.
  int64_t request_timeout_seconds = 120;
  // Bearer token of /admin; empty: /admin is closed, and no fault can be made.
  std::string admin_token;
  // JSON lines of requests that are over, and of steps: a file, or "-" for standard error; empty:
  // none.
  std::string request_log;
  std::string step_log;
  std::string faults;  // from the start, as the body of POST /admin/faults; empty: none
};

// The model of scripts/get-model.sh, and the shape that the model of a GPU has where none is named.
inline constexpr const char* kSmallModelId = "smollm2-135m";
inline constexpr const char* kDefaultShape = "llama-3.1-8b";

// What computes.
enum class BackendKind : uint8_t {
  kLlama,     // real GGUF weights with llama.cpp, on the CPU
  kGpuModel,  // a calibrated model of a GPU; no weights
};

using scheduler::InputTooLong;

// What becomes of a worker's running requests when it dies.
enum class WorkerLoss : uint8_t { kError, kRecompute };

// [model]
struct ModelOptions {
  // The name that requests ask for; empty: of the small model, or of the shape.
  std::string model_id;
  std::string path;  // GGUF; empty: what scripts/get-model.sh put into the cache
  BackendKind backend = BackendKind::kLlama;
  // Share of the memory left after the weights that the KV cache may take (of a GPU; on the CPU it
  // bounds the default, which is small). Above 0, at most 1.
  double kv_cache_ratio = 0.85;
  // Sequences computed at once; `max_num_seqs` is another name of it. The CPU backend takes 8 at
  // most: one core computes no more tokens per second beyond that. 1 to 4096.
  int max_batch_size = 32;
  // How long an idle instance waits for more requests before its first step; 0: not at all, as
  // vLLM. Never waits while something runs. 0 to 10000.
  int64_t batch_wait_ms = 10;
  int max_tokens = 2048;  // the most a request may generate; a larger wish is cut to it. 1 to 2^20
  // Blocks of 16 tokens, one of which is never used, as vLLM's log counts them; 0: by
  // kv_cache_ratio.
  int64_t kv_blocks = 0;
  int max_model_len = 0;  // prompt and answer together; 0: what the model was trained for
  int max_input_len = 0;  // prompt; 0: max_model_len - 1
  InputTooLong on_input_too_long = InputTooLong::kReject;
  int threads = 0;  // compute threads; 0: one less than cores, at least one, so that HTTP gets its
                    // turn: a compute thread that waits for a descheduled peer spins
  WorkerLoss on_worker_loss = WorkerLoss::kError;
  // Of the GPU model.
  std::string gpu;    // "H100"
  std::string shape;  // a model's name or the path of its config.json
  int tensor_parallel = 1;
  double speed = 1.0;       // of time itself: 10 makes a step take a tenth. 0.01 to 1000
  int answer_tokens = 256;  // median length of an answer; 0: all go on to max_tokens. 0 to 2^20
};

// [scheduler] policy: the article's name for what the loop does.
enum class BatchPolicy : uint8_t { kContinuousBatching };
using QueuePolicy = scheduler::Policy;  // [scheduler] scheduler_policy: who is next

// [scheduler]
struct SchedulerOptions {
  BatchPolicy policy = BatchPolicy::kContinuousBatching;
  QueuePolicy scheduler_policy = QueuePolicy::kFcfs;
  int64_t queue_warn_ms = 200;         // a longer wait for the first step is logged; 0: none
  bool enable_chunked_prefill = true;  // off: a prompt is computed in one step or not at all; one
                                       // above max_num_batched_tokens is refused
  // Tokens computed in one step. 0: 64 on the CPU, 8192 on the GPU model. On the CPU 64 to 512: a
  // step of 64 takes about 0.2 s of one core, and everyone who decodes waits for it.
  int max_num_batched_tokens = 0;
  int long_prefill_token_threshold = 0;  // the most one prompt gets of a step; 0: all of it
  double watermark = 0.0;  // share of the KV cache kept free when one more is admitted. 0 to 0.5
  // Full blocks are kept and found again by requests that begin alike. Changes what is measured, so
  // it is asked for.
  bool enable_prefix_caching = false;
  bool group_by_length = false;         // a batch does not mix lengths that differ by more than ...
  double group_by_length_factor = 2.0;  // ... this factor. 1 to 1000
};

// One instance.
struct Options {
  ServerOptions server;
  ModelOptions model;
  SchedulerOptions scheduler;
};

}  // namespace hw::engine
