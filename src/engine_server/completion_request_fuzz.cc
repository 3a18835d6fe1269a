// Bodies of completions: any bytes give a request or an error, and a request keeps what its fields
// promise.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine_server/completion_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hw;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const Dialect dialect : {Dialect::kOpenaiChat, Dialect::kOpenaiCompletions}) {
    const auto request = engine_server::read_completion_request(dialect, body);
    if (!request) {
      if (request.error().message.empty()) std::abort();
      continue;
    }
    const engine::Sampling& sampling = request->sampling;
    const bool in_range = sampling.temperature >= 0 && sampling.temperature <= 2 &&
                          sampling.top_p > 0 && sampling.top_p <= 1 && sampling.top_k >= 0 &&
                          request->output_tokens_max >= 0 && request->stop.size() <= 16;
    if (!in_range || request->model.empty()) std::abort();
  }
  return 0;
}
