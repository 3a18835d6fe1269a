#include "engine_server/token_exchange.h"

#include <utility>

#include "base/text.h"
#include "engine_server/prompt_tokens.h"
#include "json/scan.h"
#include "json/writer.h"
#include "wire/error_body.h"

namespace hw::engine_server {

net::Task<void> TokenExchange::run() {
  Status had = co_await client_.read_body(kBodyBytesMax, monotonic_ns() + kBodyTimeout);
  if (!had && had.error().code == ErrorCode::kClientGone) co_return;
  Result<std::string> made = std::string();
  if (!had) {
    made = fail(std::move(had.error()));
  } else if (client_.body().size() <= kTokeniseHereMax) {
    made = answer();
  } else {
    std::function<void()> job = [this, &made] { made = answer(); };
    const bool ran = co_await services_.blocking.run(services_.loop, job);
    if (!ran) made = fail(ErrorCode::kOverloaded, "too many long prompts wait; try again soon");
  }
  Reply reply;
  if (made) {
    reply.body = std::move(*made);
  } else {
    reply = error_reply(made.error(), {});
  }
  co_await send_reply(client_, reply);
}

Result<std::string> TokenExchange::answer() const {
  switch (way_) {
    case Way::kTokenize:
      return tokenized();
    case Way::kDetokenize:
      return detokenized();
  }
  return fail(ErrorCode::kInternal, "no such way");
}

Result<std::string> TokenExchange::tokenized() const {
  Result<CompletionRequest> request = read_tokenize_request(client_.body());
  if (!request) return fail(std::move(request.error()));
  if (!request->model.empty() && request->model != services_.model_id)
    return fail(wire::unknown_model(request->model));
  const Result<std::vector<engine::Token>> tokens = prompt_tokens(*request, services_.tokenizer);
  if (!tokens) return fail(tokens.error());
  std::string out;
  json::Writer json(out);
  json.begin_object();
  json.field("count", tokens->size());
  json.field("max_model_len", services_.engine.limits().scheduling.max_model_len);
  json.key("tokens");
  json.begin_array();
  for (const engine::Token token : *tokens) json.value(token);
  json.end_array();
  json.end_object();
  return out;
}

Result<std::string> TokenExchange::detokenized() const {
  json::Document document(ErrorCode::kBadRequest);
  if (Status opened = document.open(client_.body()); !opened)
    return fail(std::move(opened.error()));
  const json::Value given = document.root().find("tokens");
  if (given.kind() != json::Kind::kArray)
    return fail(ErrorCode::kBadRequest, "tokens: expected a list of token ids");
  const int size = services_.tokenizer.vocabulary_size();
  std::string text, wrong;
  given.array().each([&](const json::Value& value) {
    const auto token = value.integer();
    if (token && *token >= 0 && *token < size) {
      text += services_.tokenizer.piece(static_cast<engine::Token>(*token));
    } else if (wrong.empty()) {
      wrong = concat("tokens: ", value.raw(), " is no token; expected 0 to ", size - 1);
    }
  });
  if (Status whole = document.finish(); !whole) return fail(std::move(whole.error()));
  if (!wrong.empty()) return fail(ErrorCode::kBadRequest, wrong);
  std::string out;
  json::Writer json(out);
  json.begin_object();
  json.field("prompt", text);
  json.end_object();
  return out;
}

}  // namespace hw::engine_server
