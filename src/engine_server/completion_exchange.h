// One completion from the client's body to the last byte of the answer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/random.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/tokenizer.h"
#include "engine_server/answer.h"
#include "engine_server/completion_request.h"
#include "engine_server/completion_writer.h"
#include "faults/faulty_backend.h"
#include "http/server.h"
#include "net/blocking_pool.h"
#include "net/task.h"

namespace hw::engine_server {

// What exchanges share; all outlive them.
struct Services {
  engine::Engine& engine;
  const engine::Tokenizer& tokenizer;
  std::string model_id;
  int64_t request_timeout_s = 0;  // for messages
  net::Loop& loop;
  net::BlockingPool& blocking;  // for tokenising long texts
  Random& random;
  std::string admin_token;                  // of /admin; empty: closed
  faults::FaultyBackend* faults = nullptr;  // where there is a token
};

// Lives in the coroutine that serves the request. Whichever way it ends, its sequence does not
// outlive it by more than the step that is being computed.
class CompletionExchange {
 public:
  CompletionExchange(const Services& services, http::ServerConnection& client, Dialect dialect);
  ~CompletionExchange();
  CompletionExchange(const CompletionExchange&) = delete;
  CompletionExchange& operator=(const CompletionExchange&) = delete;

  // `request_id`: the caller's x-request-id, which is taken over where it may be; else one is made.
  net::Task<void> run(std::string_view request_id);

 private:
  net::Task<Status> start();
  Status read_request();
  net::Task<Status> tokenise();
  Status submit();
  net::Task<void> stream();
  net::Task<void> collect();
  void compose(std::string& out, const engine::Update& news, const ChunkWriter& writer);
  Error failure(engine::FinishReason reason) const;

  const Services& services_;
  http::ServerConnection& client_;
  CompletionRequest request_;
  AnswerIdentity identity_;
  std::string request_id_;
  std::vector<engine::Token> prompt_;
  std::shared_ptr<Answer> answer_;  // once it is submitted
  engine::RequestNumber number_ = 0;
  bool ended_ = false;  // the engine is done with it
};

}  // namespace hw::engine_server
