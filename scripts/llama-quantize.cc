// Writes a GGUF file again with its weights in Q4_0: `llama-quantize IN.gguf OUT.gguf`. Built and
// run once by scripts/get-model.sh, against the library that scripts/get-llama.sh installed.
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
  return llama_model_quantize(argv[1], argv[2], &params) == 0 ? 0 : 1;
}
