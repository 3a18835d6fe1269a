// POST /tokenize and /detokenize: text into tokens and back, as vLLM has them, without a sequence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine_server/completion_exchange.h"
#include "engine_server/reply.h"
#include "http/server.h"
#include "net/task.h"

namespace hw::engine_server {

// Lives in the coroutine that serves the request.
class TokenExchange {
 public:
  enum class Way : uint8_t { kTokenize, kDetokenize };

  TokenExchange(const Services& services, http::ServerConnection& client, Way way)
      : services_(services), client_(client), way_(way) {}

  // Answers `{"count", "max_model_len", "tokens"}` to a prompt or a conversation, or
  // `{"prompt"}` to `{"tokens": [...]}`. kBadRequest where the body is neither.
  net::Task<void> run();

 private:
  Result<std::string> answer() const;
  Result<std::string> tokenized() const;
  Result<std::string> detokenized() const;

  const Services& services_;
  http::ServerConnection& client_;
  const Way way_;
};

}  // namespace hw::engine_server
