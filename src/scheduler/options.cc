#include "scheduler/options.h"

#include <algorithm>

#include "base/text.h"

namespace hw::scheduler {
namespace {

constexpr int kSequencesMax = 65'536;
constexpr int64_t kBlocksMax = int64_t{1} << 30;
constexpr double kWatermarkMax = 0.5;

Status contradiction(std::string message) {
  return fail(ErrorCode::kConfig, std::move(message));
}

Status validate_step(const Options& options) {
  if (options.max_num_seqs < 1 || options.max_num_seqs > kSequencesMax) {
    return contradiction(
        concat("max_num_seqs ", options.max_num_seqs, " must be from 1 to ", kSequencesMax));
  }
  if (options.max_num_batched_tokens < options.max_num_seqs) {
    return contradiction(concat("max_num_batched_tokens ", options.max_num_batched_tokens,
                                " must be at least max_num_seqs ", options.max_num_seqs,
                                ", for each sequence may decode one"));
  }
  if (options.long_prefill_token_threshold < 0) {
    return contradiction("long_prefill_token_threshold must not be negative");
  }
  if (options.long_prefill_token_threshold > 0 && !options.enable_chunked_prefill) {
    return contradiction("long_prefill_token_threshold needs enable_chunked_prefill");
  }
  if (options.group_by_length_factor != 0.0 && !(options.group_by_length_factor >= 1.0)) {
    return contradiction("group_by_length_factor must be 0 (off) or at least 1");
  }
  return {};
}

Status validate_lengths(const Options& options) {
  if (options.kv_blocks < 2 || options.kv_blocks > kBlocksMax) {
    return contradiction(concat("kv_blocks ", options.kv_blocks, " must be from 2 to ", kBlocksMax,
                                "; one of them is never used"));
  }
  if (!(options.watermark >= 0.0 && options.watermark <= kWatermarkMax)) {
    return contradiction("watermark must be from 0 to 0.5");
  }
  if (options.max_model_len < 2) return contradiction("max_model_len must be at least 2");
  if (options.max_input_len < 0 || options.max_input_len >= options.max_model_len) {
    return contradiction(concat("max_input_len ", options.max_input_len,
                                " must be below max_model_len ", options.max_model_len));
  }
  if (options.cached_blocks_per_place_max < 0) {
    return contradiction("cached_blocks_per_place_max must not be negative");
  }
  return {};
}

}  // namespace

int Options::input_len_max() const {
  const int wanted = max_input_len > 0 ? max_input_len : max_model_len - 1;
  return enable_chunked_prefill ? wanted : std::min(wanted, max_num_batched_tokens);
}

Status validate(const Options& options) {
  Status status = validate_step(options);
  if (status) status = validate_lengths(options);
  if (status && (options.batch_wait_ns < 0 || options.request_timeout_ns < 0 ||
                 options.queue_warn_ns < 0 || options.max_concurrent_requests < 0)) {
    status = contradiction("times and max_concurrent_requests must not be negative");
  }
  return status;
}

}  // namespace hw::scheduler
