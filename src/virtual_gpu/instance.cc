#include "virtual_gpu/instance.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "gpu_model/gpu.h"
#include "gpu_model/kv.h"
#include "gpu_model/scalars.h"
#include "gpu_model/shape_source.h"
#include "virtual_gpu/backend.h"
#include "virtual_gpu/text_tokens.h"

namespace hw::virtual_gpu {

using engine::ModelOptions;
using engine::Options;
using gpu_model::Gpu;
using gpu_model::KvLayout;
using gpu_model::KvOptions;
using gpu_model::MemoryShare;
using gpu_model::ModelShape;

namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
// A shape that does not say how long its contexts may be.
constexpr int kContextUnsaid = 32'768;

int step_tokens(const Options& options) {
  const int asked = options.scheduler.max_num_batched_tokens;
  return asked > 0 ? asked : engine::kGpuBounds.step_tokens_default;
}

// Blocks that the memory beside the weights holds. Layers with a window have blocks of their own
// for what a sequence still sees; a block of the scheduler is one of each.
Result<int64_t> blocks_in_memory(const ModelShape& shape, const Gpu& gpu, const Options& options) {
  KvOptions kv;
  kv.tensor_parallel = options.model.tensor_parallel;
  kv.max_num_batched_tokens = step_tokens(options);
  const Result<KvLayout> layout = gpu_model::kv_layout(shape, kv);
  if (!layout.has_value()) return fail(layout.error());
  const double overhead = gpu_model::overhead_bytes(shape, kv, options.model.max_batch_size);
  const MemoryShare share = gpu_model::share_memory(shape, gpu, kv.tensor_parallel,
                                                    options.model.kv_cache_ratio, overhead);
  const int groups = std::max(1, layout->full_groups + layout->window_groups);
  const int64_t blocks = share.kv > 0 ? layout->blocks_in(share.kv) / groups : 0;
  if (blocks >= 2) return blocks;
  return fail(ErrorCode::kConfig,
              concat("the weights of ", shape.name, " (", fixed(share.weights / kGib, 1),
                     " GiB on each GPU) leave no room for the KV cache in the ",
                     fixed(share.usable / kGib, 1), " GiB of ", gpu.name,
                     " that [model] kv_cache_ratio allows: more GPUs (tensor_parallel), a larger "
                     "one, or smaller weights"));
}

}  // namespace

gpu_model::StepCost Machine::cost() const {
  return {shape, gpu, cost_options, gpu_model::Scalars()};
}

Result<Machine> plan_machine(const Options& options) {
  const ModelOptions& model = options.model;
  const std::string shape_name = model.shape.empty() ? engine::kDefaultShape : model.shape;
  Result<ModelShape> shape = gpu_model::open_shape(shape_name);
  if (!shape.has_value()) return fail(shape.error());
  const std::string_view gpu_name = model.gpu.empty() ? kDefaultGpu : std::string_view(model.gpu);
  const Result<Gpu> gpu = gpu_model::find_gpu(gpu_name);
  if (!gpu.has_value()) return fail(gpu.error());
  const Result<int64_t> blocks = blocks_in_memory(*shape, *gpu, options);
  if (!blocks.has_value()) return fail(blocks.error());
  engine::ModelFacts facts;
  facts.context_len = shape->context_max > 0 ? shape->context_max : kContextUnsaid;
  facts.kv_blocks = *blocks;
  facts.bounds = engine::kGpuBounds;
  Result<engine::ResolvedLimits> resolved = engine::resolve_limits(options, facts, {});
  if (!resolved.has_value()) return fail(resolved.error());
  Machine out;
  out.shape = std::move(*shape);
  out.gpu = *gpu;
  out.limits = std::move(resolved->limits);
  out.notes = std::move(resolved->notes);
  out.cost_options.tensor_parallel = model.tensor_parallel;
  out.cost_options.tokens_max = out.limits.step_tokens_max();
  return out;
}

Result<engine::Instance> open_instance(const Options& options, Registry& registry) {
  Result<Machine> machine = plan_machine(options);
  if (!machine.has_value()) return fail(machine.error());
  const ModelOptions& model = options.model;
  const Settings settings = {model.speed, model.answer_tokens};
  engine::Instance out;
  out.tokenizer = std::make_unique<TextTokens>();
  out.backend = std::make_unique<VirtualGpu>(machine->cost(), settings,
                                             PaceMetrics(registry, model.model_id));
  out.limits = machine->limits;
  out.description = concat("a model of ", machine->shape.name, " on ", machine->gpu.name, " x",
                           model.tensor_parallel, ", ", out.limits.scheduling.kv_blocks,
                           " blocks; it computes nothing, its answers are random words");
  out.notes = std::move(machine->notes);
  return out;
}

}  // namespace hw::virtual_gpu
