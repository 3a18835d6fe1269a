#include "scheduler/options.h"

#include <doctest/doctest.h>

#include <string>

#include "scheduler/scheduler.h"
#include "scheduler/trial.h"

namespace hw::scheduler {
namespace {

template <class Change>
std::string refusal(Change change) {
  Options options = small_options();
  change(options);
  const Status status = validate(options);
  return status ? std::string() : status.error().message;
}

TEST_CASE("settings that contradict each other are refused by name") {
  CHECK(refusal([](Options&) {}).empty());
  CHECK(refusal([](Options& o) { o.max_num_seqs = 0; }).find("max_num_seqs") == 0);
  CHECK(refusal([](Options& o) { o.max_num_batched_tokens = 3; }).find("max_num_batched") == 0);
  CHECK(refusal([](Options& o) { o.kv_blocks = 1; }).find("kv_blocks") == 0);
  CHECK(refusal([](Options& o) { o.watermark = 0.6; }).find("watermark") == 0);
  CHECK(refusal([](Options& o) { o.max_model_len = 1; }).find("max_model_len") == 0);
  CHECK(refusal([](Options& o) { o.max_input_len = 512; }).find("max_input_len") == 0);
  CHECK(refusal([](Options& o) { o.group_by_length_factor = 0.5; }).find("group_by") == 0);
  CHECK(refusal([](Options& o) { o.batch_wait_ns = -1; }).find("times") == 0);
  CHECK(refusal([](Options& o) {
          o.long_prefill_token_threshold = 10;
          o.enable_chunked_prefill = false;
        }).find("long_prefill_token_threshold needs") == 0);
}

std::string refused(const Options& options, Request request) {
  const Status status = fit_request(request, options);
  if (!status) CHECK(status.error().code == ErrorCode::kBadRequest);
  return status ? std::string() : status.error().message;
}

TEST_CASE("what can never be computed is refused with the numbers") {
  Options options = small_options();
  CHECK(refused(options, prompt_of(0, 1)) == "the prompt has no token");
  CHECK(refused(options, prompt_of(512, 1)) ==
        "the prompt has 512 tokens; this instance takes at most 511");
  options.max_input_len = 100;
  CHECK(refused(options, prompt_of(101, 1)).find("101") != std::string::npos);
  options.max_input_len = 0;
  options.kv_blocks = 11;
  CHECK(refused(options, prompt_of(100, 61)).empty());  // the last token is never computed
  CHECK(refused(options, prompt_of(100, 62)) ==
        "the prompt has 100 tokens and the answer up to 62: that takes 11 KV blocks of 16 tokens, "
        "and this instance has 10");
  options.enable_chunked_prefill = false;
  CHECK(refused(options, prompt_of(65, 1)) ==
        "the prompt has 65 tokens; this instance takes at most 64 (max_num_batched_tokens, for "
        "enable_chunked_prefill is off)");
}

TEST_CASE("answers are cut to the model's length, prompts only where that is asked for") {
  Options options = small_options();
  Request request = prompt_of(500, 100);
  REQUIRE(fit_request(request, options).has_value());
  CHECK(request.output_tokens_max == 12);
  options.max_input_len = 100;
  options.on_input_too_long = InputTooLong::kTruncate;
  request = prompt_of(500, 100);
  REQUIRE(fit_request(request, options).has_value());
  CHECK(request.prompt.size() == 100);
  CHECK(request.prompt.front() == 400);  // the end is kept
  Request lengths_only;
  lengths_only.prompt_tokens = 500;
  lengths_only.output_tokens_max = 1;
  lengths_only.prompt_hashes.resize(3);
  REQUIRE(fit_request(lengths_only, options).has_value());
  CHECK(lengths_only.prompt_tokens == 100);
  CHECK(lengths_only.prompt_hashes.empty());
}

}  // namespace
}  // namespace hw::scheduler
