// What holds in a running instance: settings, model and machine brought together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/options.h"
#include "engine/request.h"

namespace hw::engine {

// Tokens in one block of `kv_blocks`; vLLM's block size.
inline constexpr int64_t kBlockTokens = 16;
// The CPU backend's own bounds; the reasons are in options.h.
inline constexpr int kCpuSequencesMax = 8;
inline constexpr int kCpuStepTokensMin = 64;
inline constexpr int kCpuStepTokensMax = 512;

// Of the weights.
struct ModelFacts {
  int context_len = 0;  // tokens, as trained
  int64_t kv_bytes_per_token = 0;
};

// Of the machine.
struct HostFacts {
  int cores = 1;
  int64_t free_memory_bytes = 0;
};

// Reads them of this machine: cores this process may use, MemAvailable of /proc/meminfo.
HostFacts read_host_facts();

// A cell holds the keys and values of one token.
struct Limits {
  int requests_max = 0;            // waiting and running
  int sequences_max = 0;           // running
  int step_tokens_max = 0;         // in one step
  int prompt_step_tokens_max = 0;  // of one prompt in one step
  bool chunked_prefill = true;
  int64_t cells = 0;
  int64_t watermark_cells = 0;  // kept free at admission while something runs
  int model_len_max = 0;        // prompt and answer; at most `cells`
  int input_len_max = 0;        // prompt; below model_len_max
  InputTooLong on_input_too_long = InputTooLong::kReject;
  int output_tokens_max = 0;
  int threads = 1;
  Nanos request_timeout_ns = 0;
  Nanos batch_wait_ns = 0;
  Nanos queue_warn_ns = 0;  // 0: no warning
};

// What resolve_limits() gives.
struct ResolvedLimits {
  Limits limits;
  std::vector<std::string> notes;  // what was cut or is not in effect, for the log
};

// Brings them together. kConfig with the setting's name where they contradict each other.
Result<ResolvedLimits> resolve_limits(const Options& options, const ModelFacts& model,
                                      const HostFacts& host);

// Cuts the request's wish to what the limits allow, before it is submitted. kBadRequest where its
// prompt can never be computed: empty, or above input_len_max without permission to truncate.
Status fit_request(Request& request, const Limits& limits);

}  // namespace hw::engine
