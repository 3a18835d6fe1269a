#include "llama/library.h"

// Without llama.cpp's header there is nothing here, and instance.cc says how to get it.
#ifdef HEADWAY_LLAMA_VERSION

#include <dlfcn.h>
#include <llama.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"

namespace hw::llama {

// What is used of the library; few and old functions, for its interface moves.
#define HEADWAY_LLAMA_FUNCTIONS(X) \
  X(llama_version)                 \
  X(llama_log_set)                 \
  X(llama_backend_init)            \
  X(llama_model_default_params)    \
  X(llama_model_load_from_file)    \
  X(llama_model_free)              \
  X(llama_model_get_vocab)         \
  X(llama_model_desc)              \
  X(llama_model_n_ctx_train)       \
  X(llama_model_n_layer)           \
  X(llama_model_n_head)            \
  X(llama_model_n_head_kv)         \
  X(llama_model_n_embd)            \
  X(llama_model_n_swa)             \
  X(llama_model_has_decoder)       \
  X(llama_model_has_encoder)       \
  X(llama_model_is_recurrent)      \
  X(llama_model_is_hybrid)         \
  X(llama_model_meta_val_str)      \
  X(llama_model_chat_template)     \
  X(llama_chat_apply_template)     \
  X(llama_vocab_n_tokens)          \
  X(llama_vocab_is_eog)            \
  X(llama_tokenize)                \
  X(llama_token_to_piece)          \
  X(llama_context_default_params)  \
  X(llama_init_from_model)         \
  X(llama_free)                    \
  X(llama_n_ctx)                   \
  X(llama_n_batch)                 \
  X(llama_n_seq_max)               \
  X(llama_get_memory)              \
  X(llama_memory_seq_rm)           \
  X(llama_memory_seq_cp)           \
  X(llama_batch_init)              \
  X(llama_batch_free)              \
  X(llama_decode)                  \
  X(llama_get_logits_ith)

struct Functions {
#define HEADWAY_DECLARE(name) decltype(&::name) name = nullptr;
  HEADWAY_LLAMA_FUNCTIONS(HEADWAY_DECLARE)
#undef HEADWAY_DECLARE
};

namespace {

constexpr std::string_view kHowToGet = "run scripts/get-llama.sh, then build again";

// Warnings and errors go to our log, a line at a time; the rest is dropped. Pieces of a line come
// with the level CONT.
void forward_log(ggml_log_level level, const char* text, void*) {
  thread_local ggml_log_level last = GGML_LOG_LEVEL_NONE;
  thread_local std::string line;
  if (level != GGML_LOG_LEVEL_CONT) last = level;
  if (last != GGML_LOG_LEVEL_WARN && last != GGML_LOG_LEVEL_ERROR) return;
  line += text;
  if (!line.ends_with('\n')) return;
  line.pop_back();
  log(last == GGML_LOG_LEVEL_ERROR ? LogLevel::kError : LogLevel::kWarning, "llama.cpp", line);
  line.clear();
}

// Where the library may be, first the likeliest. HEADWAY_LLAMA, a file or a prefix, excludes
// others.
std::vector<std::string> candidates() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const char* wanted = std::getenv("HEADWAY_LLAMA"); wanted != nullptr && *wanted != '\0') {
    if (!fs::is_directory(wanted, ignored)) return {wanted};
    const fs::path prefix(wanted);
    if (fs::exists(prefix / "libllama.so", ignored)) return {prefix / "libllama.so"};
    return {prefix / "lib" / "libllama.so"};
  }
  const fs::path built(HEADWAY_LLAMA_BUILD_PREFIX);
  std::vector<std::string> paths = {built / "lib" / "libllama.so"};
  fs::path cache;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    cache = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr) {
    cache = fs::path(home) / ".cache";
  }
  if (!cache.empty()) {
    paths.push_back(cache / "headway" / built.filename() / "lib" / "libllama.so");
  }
  std::erase_if(paths, [&ignored](const std::string& path) { return !fs::exists(path, ignored); });
  paths.push_back("libllama.so.0");  // the loader's own places
  return paths;
}

Result<Functions> find_functions(void* library, const std::string& path) {
  Functions functions;
  const char* missing = nullptr;
#define HEADWAY_FIND(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  if (functions.name == nullptr) missing = #name;
  HEADWAY_LLAMA_FUNCTIONS(HEADWAY_FIND)
#undef HEADWAY_FIND
  if (missing != nullptr) {
    return fail(ErrorCode::kConfig,
                concat("llama.cpp at ", path, " has no function ", missing, ": ", kHowToGet));
  }
  const std::string_view version = functions.llama_version();
  if (version != HEADWAY_LLAMA_VERSION) {
    return fail(ErrorCode::kConfig,
                concat("llama.cpp at ", path, " is version ", version,
                       ", this program was built for ", HEADWAY_LLAMA_VERSION, ": ", kHowToGet));
  }
  return functions;
}

Result<Functions> load_library() {
  std::string tried;
  for (const std::string& path : candidates()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried += concat("\n  ", dlerror());
      continue;
    }
    Result<Functions> functions = find_functions(library, path);
    if (functions) {
      functions->llama_log_set(forward_log, nullptr);
      functions->llama_backend_init();
    } else {
      dlclose(library);
    }
    return functions;
  }
  return fail(ErrorCode::kConfig, concat("llama.cpp cannot be loaded: ", kHowToGet,
                                         ", or say where its libllama.so is "
                                         "with HEADWAY_LLAMA",
                                         tried));
}

// Loaded once, and kept until the process ends.
Result<const Functions*> library() {
  static const Result<Functions> loaded = load_library();
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

bool stop_asked(void* flag) {
  return static_cast<std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
}

}  // namespace

Result<std::shared_ptr<const Weights>> Weights::open(const std::string& path) {
  const Result<const Functions*> loaded = library();
  if (!loaded) return fail(loaded.error());
  const Functions& functions = **loaded;
  llama_model_params params = functions.llama_model_default_params();
  params.n_gpu_layers = 0;
  llama_model* model = functions.llama_model_load_from_file(path.c_str(), params);
  if (model == nullptr) {
    return fail(ErrorCode::kConfig, concat("the model ", path,
                                           " cannot be loaded; its reason is "
                                           "in the log"));
  }
  std::shared_ptr<const Weights> weights(new Weights(functions, model));
  if (!functions.llama_model_has_decoder(model) || functions.llama_model_has_encoder(model) ||
      functions.llama_model_is_recurrent(model) || functions.llama_model_is_hybrid(model)) {
    return fail(ErrorCode::kConfig, concat("the model ", path, " is no decoder-only transformer"));
  }
  return weights;
}

Weights::Weights(const Functions& functions, llama_model* model)
    : functions_(functions), model_(model), vocab_(functions.llama_model_get_vocab(model)) {}

Weights::~Weights() {
  functions_.llama_model_free(model_);
}

std::string Weights::description() const {
  char text[256] = {};
  functions_.llama_model_desc(model_, text, sizeof text);
  return text;
}

int Weights::context_len() const {
  return functions_.llama_model_n_ctx_train(model_);
}

int Weights::vocabulary_size() const {
  return functions_.llama_vocab_n_tokens(vocab_);
}

int64_t Weights::metadata_number(const std::string& key, int64_t otherwise) const {
  char text[64] = {};
  if (functions_.llama_model_meta_val_str(model_, key.c_str(), text, sizeof text) < 0) {
    return otherwise;
  }
  int64_t number = 0;
  return parse_number(text, number) ? number : otherwise;
}

int64_t Weights::kv_bytes_per_token() const {
  constexpr int64_t kBytesPerNumber = 2;  // the context keeps them as 16-bit floats
  char architecture[64] = {};
  functions_.llama_model_meta_val_str(model_, "general.architecture", architecture,
                                      sizeof architecture);
  const int64_t by_shape =
      functions_.llama_model_n_embd(model_) / std::max(1, functions_.llama_model_n_head(model_));
  const std::string prefix = concat(std::string_view(architecture), ".attention.");
  const int64_t key = metadata_number(prefix + "key_length", by_shape);
  const int64_t value = metadata_number(prefix + "value_length", by_shape);
  return int64_t{functions_.llama_model_n_layer(model_)} *
         functions_.llama_model_n_head_kv(model_) * (key + value) * kBytesPerNumber;
}

int Weights::attention_window() const {
  return functions_.llama_model_n_swa(model_);
}

std::string Weights::chat_template() const {
  const char* text = functions_.llama_model_chat_template(model_, nullptr);
  return text == nullptr ? std::string() : std::string(text);
}

std::vector<Token> Weights::tokenize(std::string_view text, Specials specials, Begin begin) const {
  const auto size = static_cast<int32_t>(text.size());
  std::vector<Token> tokens(text.size() / 2 + 8);
  for (;;) {
    const int32_t count = functions_.llama_tokenize(
        vocab_, text.data(), size, tokens.data(), static_cast<int32_t>(tokens.size()),
        begin == Begin::kAsModelWants, specials == Specials::kParsed);
    tokens.resize(static_cast<size_t>(std::abs(count)));
    if (count >= 0) return tokens;  // negative: the size that it needs
  }
}

std::string Weights::piece(Token token) const {
  char bytes[256];
  const int32_t size =
      functions_.llama_token_to_piece(vocab_, token, bytes, sizeof bytes, 0, false);
  return size > 0 ? std::string(bytes, static_cast<size_t>(size)) : std::string();
}

bool Weights::ends(Token token) const {
  return functions_.llama_vocab_is_eog(vocab_, token);
}

Result<std::string> Weights::apply_template(const std::string& chat_template,
                                            const std::vector<ChatMessage>& messages) const {
  std::vector<llama_chat_message> plain;
  size_t size = 512;
  for (const ChatMessage& message : messages) {
    plain.push_back({message.role.c_str(), message.content.c_str()});
    size += 2 * message.content.size() + message.role.size() + 64;
  }
  std::string text;
  for (;;) {
    text.resize(size);
    const int32_t needed =
        functions_.llama_chat_apply_template(chat_template.c_str(), plain.data(), plain.size(),
                                             true, text.data(), static_cast<int32_t>(text.size()));
    if (needed < 0) {
      return fail(ErrorCode::kBadRequest, "the model's chat template is none of those known");
    }
    text.resize(static_cast<size_t>(needed));
    if (text.size() <= size) return text;
    size = text.size();
  }
}

struct Context::State {
  const Functions& functions;
  llama_context* context = nullptr;
  llama_memory_t memory = nullptr;
  llama_batch batch{};
  int vocabulary_size = 0;
  int sequences_max = 0;
  int step_tokens_max = 0;
  std::atomic<bool> stop{false};

  explicit State(const Functions& f) : functions(f) {}
  ~State() {
    if (batch.token != nullptr) functions.llama_batch_free(batch);
    if (context != nullptr) functions.llama_free(context);
  }
};

Result<std::unique_ptr<Context>> Weights::make_context(const ContextSettings& settings) const {
  auto state = std::make_unique<Context::State>(functions_);
  llama_context_params params = functions_.llama_context_default_params();
  params.n_ctx = static_cast<uint32_t>(settings.cells);
  params.n_batch = static_cast<uint32_t>(settings.step_tokens_max);
  params.n_ubatch = params.n_batch;
  params.n_seq_max = static_cast<uint32_t>(settings.sequences_max);
  params.n_threads = settings.threads;
  params.n_threads_batch = settings.threads;
  params.kv_unified = true;  // one pool of cells, which a scheduler can share out
  // Measured with 2,048 cells in use, steps of 1 to 64 tokens: twice as fast as without, and no
  // step size is slow (one that was cut at 63 tokens costs as much as one of 64).
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.no_perf = true;
  params.abort_callback = stop_asked;
  params.abort_callback_data = &state->stop;
  state->context = functions_.llama_init_from_model(model_, params);
  if (state->context == nullptr) {
    return fail(ErrorCode::kConfig, concat("no room for a KV cache of ", settings.cells,
                                           " tokens; set [model] "
                                           "kv_blocks or kv_cache_ratio lower"));
  }
  state->memory = functions_.llama_get_memory(state->context);
  state->batch = functions_.llama_batch_init(settings.step_tokens_max, 0, 1);
  state->vocabulary_size = vocabulary_size();
  state->sequences_max = static_cast<int>(functions_.llama_n_seq_max(state->context));
  state->step_tokens_max = static_cast<int>(functions_.llama_n_batch(state->context));
  HW_ASSERT(functions_.llama_n_ctx(state->context) >= params.n_ctx);
  HW_ASSERT(state->step_tokens_max >= settings.step_tokens_max);
  return std::unique_ptr<Context>(new Context(std::move(state)));
}

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

void Context::warm_up() {
  std::vector<StepToken> tokens;
  for (int i = 0; i < state_->step_tokens_max; ++i) tokens.push_back({0, i, 0, false});
  tokens.back().wants_scores = true;
  decode(tokens);
  clear(0);
}

void Context::clear(int slot) {
  remove(slot, -1, -1);
}

void Context::remove(int slot, int from, int to) {
  HW_ASSERT(slot >= 0 && slot < state_->sequences_max);  // the library would abort the process
  state_->functions.llama_memory_seq_rm(state_->memory, slot, from, to);
}

void Context::copy(int source, int target, int from, int to) {
  HW_ASSERT(source >= 0 && source < state_->sequences_max);
  HW_ASSERT(target >= 0 && target < state_->sequences_max && target != source);
  state_->functions.llama_memory_seq_cp(state_->memory, source, target, from, to);
}

std::string Context::decode(std::span<const StepToken> tokens) {
  llama_batch& batch = state_->batch;
  HW_ASSERT(!tokens.empty() && tokens.size() <= static_cast<size_t>(state_->step_tokens_max));
  batch.n_tokens = static_cast<int32_t>(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    HW_ASSERT(tokens[i].slot >= 0 && tokens[i].slot < state_->sequences_max);
    batch.token[i] = tokens[i].token;
    batch.pos[i] = tokens[i].position;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = tokens[i].slot;
    batch.logits[i] = tokens[i].wants_scores ? 1 : 0;
  }
  const int32_t outcome = state_->functions.llama_decode(state_->context, batch);
  if (outcome == 0) return {};
  if (outcome == 1) return "the KV cache has no cell left, though the scheduler counted some";
  if (outcome == 2) return "interrupted";
  return concat("llama_decode gave ", outcome);
}

std::span<float> Context::scores(int index) {
  float* scores = state_->functions.llama_get_logits_ith(state_->context, index);
  HW_ASSERT(scores != nullptr);
  return {scores, static_cast<size_t>(state_->vocabulary_size)};
}

void Context::interrupt() {
  state_->stop.store(true, std::memory_order_relaxed);
}

bool Context::interrupted() const {
  return state_->stop.load(std::memory_order_relaxed);
}

}  // namespace hw::llama

#endif  // HEADWAY_LLAMA_VERSION
