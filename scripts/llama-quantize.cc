// Writes a GGUF file again so that an x86 core computes it fast: `llama-quantize IN.gguf OUT.gguf`.
// Built and run once by scripts/get-model.sh, against the library that scripts/get-llama.sh
// installed.
//
// Gates and ups of the feed-forward, two fifths of the weights, become Q4_0; attention, downs and
// embeddings Q8_0, which loses nothing of the Q4_1 that came in. All in Q4_0 would be no faster and
// tells on a model this small: perplexity on English text 48.6, against 43.5 so and 40.3 before
// (measured with SmolLM2-135M; greedy answers fell into loops).
#include <llama.h>

#include <cstdio>

namespace {

void print_warnings_only(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR || level == GGML_LOG_LEVEL_WARN) std::fputs(text, stderr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: llama-quantize IN.gguf OUT.gguf\n", stderr);
    return 2;
  }
  llama_log_set(print_warnings_only, nullptr);
  llama_backend_init();
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = LLAMA_FTYPE_MOSTLY_Q4_0;
  params.allow_requantize = true;  // the file that PyPI has is quantised already
  params.nthread = 1;              // the same bytes on every machine
  params.token_embedding_type = GGML_TYPE_Q8_0;
  params.output_tensor_type = GGML_TYPE_Q8_0;
  const llama_model_tensor_override finer[] = {
      {"attn_", GGML_TYPE_Q8_0}, {"ffn_down", GGML_TYPE_Q8_0}, {nullptr, GGML_TYPE_COUNT}};
  params.tt_overrides = finer;
  return llama_model_quantize(argv[1], argv[2], &params) == 0 ? 0 : 1;
}
