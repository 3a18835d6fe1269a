#include "llama/instance.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/text.h"

#ifdef HEADWAY_LLAMA_VERSION
#include "llama/backend.h"
#include "llama/library.h"
#include "llama/tokenizer.h"
#endif

namespace hw::llama {

using engine::HostFacts;
using engine::Instance;
using engine::Options;

#ifdef HEADWAY_LLAMA_VERSION

Result<Instance> open_instance(const Options& options, const HostFacts& host) {
  const std::string path = options.model.path.empty() ? default_model_path() : options.model.path;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return fail(ErrorCode::kConfig,
                concat("there is no model at ", path,
                       ": run scripts/get-model.sh, or name a GGUF file with [model] path"));
  }
  Result<std::shared_ptr<const Weights>> opened = Weights::open(path);
  if (!opened) return fail(std::move(opened.error()));
  const std::shared_ptr<const Weights> weights = std::move(*opened);

  engine::ModelFacts facts = {weights->context_len(), weights->kv_bytes_per_token(), {}};
  if (const int window = weights->attention_window(); window > 0) {
    facts.no_prefix_cache = concat("some layers of this model look back at ", window,
                                   " tokens only, so a beginning cannot be shared in part");
  }
  Result<engine::ResolvedLimits> resolved = engine::resolve_limits(options, facts, host);
  if (!resolved) return fail(std::move(resolved.error()));
  const engine::Limits& limits = resolved->limits;
  const ContextSettings settings = {limits.cells(), limits.sequences_max() + limits.prefix_lanes(),
                                    limits.step_tokens_max(), limits.threads};
  Result<std::unique_ptr<Context>> context = weights->make_context(settings);
  if (!context) return fail(std::move(context.error()));
  (*context)->warm_up();

  Instance instance;
  instance.tokenizer = std::make_unique<ModelTokenizer>(weights);
  instance.backend = std::make_unique<CpuBackend>(weights, std::move(*context), limits, settings);
  instance.limits = limits;
  instance.description = concat(weights->description(), " from ", path);
  instance.notes = std::move(resolved->notes);
  return instance;
}

#else

Result<Instance> open_instance(const Options&, const HostFacts&) {
  return fail(ErrorCode::kConfig,
              "this program was built without llama.cpp, which computes on real weights: run "
              "scripts/get-llama.sh and scripts/get-model.sh, then configure and build again");
}

#endif

std::string default_model_path() {
  constexpr std::string_view kName = "SmolLM2-135M-Instruct.Q4_0-Q8_0.gguf";
  std::filesystem::path cache;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    cache = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr) {
    cache = std::filesystem::path(home) / ".cache";
  }
  return cache / "headway" / "models" / kName;
}

}  // namespace hw::llama
