// What a chat or completions request asks of an instance, read out of its body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.h"
#include "base/result.h"
#include "engine/request.h"
#include "engine/tokenizer.h"

namespace hw::engine_server {

// Of a prompt in a completions request.
enum class PromptKind : uint8_t { kText, kTokens };

// Everything checked, but for the model's name and its tokens' range, which only the instance
// knows.
struct CompletionRequest {
  Dialect dialect = Dialect::kOpenaiChat;  // or kOpenaiCompletions
  std::string model;
  std::vector<engine::ChatMessage> messages;  // chat: at least one
  PromptKind prompt_kind = PromptKind::kText;
  std::string prompt;                  // completions, kText
  std::vector<int64_t> prompt_tokens;  // completions, kTokens
  bool stream = false;
  bool include_usage = false;     // stream_options.include_usage
  int64_t output_tokens_max = 0;  // 0: as much as the instance allows
  engine::Sampling sampling;
  bool seeded = false;  // the caller gave a seed
  std::vector<std::string> stop;
  bool ignore_end = false;  // `ignore_eos`, as vLLM has it
  int64_t priority = 0;     // as vLLM: lower goes first, where scheduler_policy is priority
  std::string cache_salt;   // as vLLM: cached prefixes are shared within one salt only

  // Bytes of text that will be tokenised.
  size_t text_bytes() const;
};

// Reads a body. kBadRequest with the field's name where a value is none that may be, or asks for
// what this instance cannot do (several answers, log-probabilities, images, forced tools, JSON
// mode). Unknown fields are ignored, and so are tools that the model is free not to call.
Result<CompletionRequest> read_completion_request(Dialect dialect, std::string_view body);

// Reads what is to be tokenised: the body of a chat request where there are `messages`, else of a
// completion; `model` may be missing. Errors likewise.
Result<CompletionRequest> read_tokenize_request(std::string_view body);

}  // namespace hw::engine_server
