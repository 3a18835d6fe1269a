#include "wire/usage.h"

#include <string_view>

namespace hw::wire {
namespace {

// More tokens than any answer has; a larger figure is nonsense, and sums of smaller ones fit.
constexpr int64_t kTokensMax = 1'000'000'000'000;

// Sets `out` where `value` is a count. True where it was.
bool read_count(const json::Value& value, int64_t& out) {
  const auto count = value.integer();
  if (!count || *count < 0 || *count > kTokensMax) return false;
  out = *count;
  return true;
}

// prompt_tokens_details and input_tokens_details: OpenAI's word for what was cached; vLLM's,
// OpenRouter's and LiteLLM's words for what was written to the cache.
void read_input_details(json::Object details, Usage& usage) {
  details.each([&](std::string_view key, const json::Value& value) {
    if (key == "cached_tokens") {
      read_count(value, usage.cached_input);
    } else if (key == "created_cache_tokens" || key == "cache_write_tokens" ||
               key == "cache_creation_tokens") {
      read_count(value, usage.cache_creation_input);
    }
  });
}

void read_output_details(json::Object details, Usage& usage) {
  details.each([&](std::string_view key, const json::Value& value) {
    if (key == "reasoning_tokens" || key == "thinking_tokens") read_count(value, usage.reasoning);
  });
}

// OpenAI's usage: the parts lie inside prompt_tokens (or, in responses, input_tokens).
void read_openai(json::Object object, Usage& usage) {
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "prompt_tokens" || key == "input_tokens") {
      usage.told |= read_count(value, usage.input);
    } else if (key == "completion_tokens" || key == "output_tokens") {
      usage.told |= read_count(value, usage.output);
    } else if (key == "prompt_tokens_details" || key == "input_tokens_details") {
      read_input_details(value.object(), usage);
    } else if (key == "completion_tokens_details" || key == "output_tokens_details") {
      read_output_details(value.object(), usage);
    } else if (key == "prompt_cache_hit_tokens" || key == "cache_read_input_tokens") {
      read_count(value, usage.cached_input);  // DeepSeek; LiteLLM
    } else if (key == "cache_creation_input_tokens") {
      read_count(value, usage.cache_creation_input);
    } else if (key == "reasoning_tokens") {
      read_count(value, usage.reasoning);  // SGLang
    }
  });
}

// Anthropic's usage: input_tokens, cache reads and cache writes lie beside each other.
void read_anthropic(json::Object object, Usage& usage) {
  int64_t plain = usage.input - usage.cached_input - usage.cache_creation_input;
  int64_t cached = usage.cached_input;
  int64_t created = usage.cache_creation_input;
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "input_tokens") {
      usage.told |= read_count(value, plain);
    } else if (key == "output_tokens") {
      usage.told |= read_count(value, usage.output);
    } else if (key == "cache_read_input_tokens") {
      read_count(value, cached);
    } else if (key == "cache_creation_input_tokens") {
      read_count(value, created);
    } else if (key == "output_tokens_details") {
      read_output_details(value.object(), usage);
    }
  });
  if (plain + cached + created == 0) return;
  usage.input = plain + cached + created;
  usage.cached_input = cached;
  usage.cache_creation_input = created;
}

}  // namespace

void read_usage(Dialect dialect, json::Object object, Usage& usage) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
    case Dialect::kOpenaiResponses:
    case Dialect::kOpenaiEmbeddings:
      return read_openai(object, usage);
    case Dialect::kAnthropicMessages:
      return read_anthropic(object, usage);
  }
}

}  // namespace hw::wire
