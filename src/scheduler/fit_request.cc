#include <algorithm>

#include "base/text.h"
#include "scheduler/scheduler.h"

namespace hw::scheduler {
namespace {

int prompt_tokens_of(const Request& request) {
  return request.prompt.empty() ? request.prompt_tokens : static_cast<int>(request.prompt.size());
}

void truncate_prompt(Request& request, int tokens) {
  if (request.prompt.empty()) {
    request.prompt_hashes.clear();  // they were those of the beginning
  } else {
    request.prompt.erase(request.prompt.begin(), request.prompt.end() - tokens);
  }
  request.prompt_tokens = tokens;
}

Status too_long(int tokens, const Options& options) {
  const bool unchunked =
      options.input_len_max() == options.max_num_batched_tokens && !options.enable_chunked_prefill;
  return fail(
      ErrorCode::kBadRequest,
      concat("the prompt has ", tokens, " tokens; this instance takes at most ",
             options.input_len_max(),
             unchunked ? " (max_num_batched_tokens, for enable_chunked_prefill is off)" : ""));
}

}  // namespace

Status fit_request(Request& request, const Options& options) {
  int tokens = prompt_tokens_of(request);
  if (tokens < 1) return fail(ErrorCode::kBadRequest, "the prompt has no token");
  if (request.output_tokens_max < 1) {
    return fail(ErrorCode::kBadRequest, "at least one token must be asked for");
  }
  if (tokens > options.input_len_max()) {
    if (options.on_input_too_long == InputTooLong::kReject) return too_long(tokens, options);
    tokens = options.input_len_max();
    truncate_prompt(request, tokens);
  }
  request.prompt_tokens = tokens;
  request.output_tokens_max = std::min(request.output_tokens_max, options.max_model_len - tokens);
  // The last token that is generated is never computed.
  const int64_t longest = int64_t{tokens} + request.output_tokens_max - 1;
  if (blocks_for(longest) > options.kv_blocks - 1) {
    return fail(
        ErrorCode::kBadRequest,
        concat("the prompt has ", tokens, " tokens and the answer up to ",
               request.output_tokens_max, ": that takes ", blocks_for(longest), " KV blocks of ",
               kBlockTokens, " tokens, and this instance has ", options.kv_blocks - 1));
  }
  return {};
}

}  // namespace hw::scheduler
