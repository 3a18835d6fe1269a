#include "engine_server/instance_handler.h"

#include <optional>
#include <span>

#include "base/text.h"
#include "engine_server/admin_exchange.h"
#include "engine_server/token_exchange.h"
#include "json/writer.h"
#include "wire/error_body.h"
#include "wire/model_list.h"

namespace hw::engine_server {
namespace {

std::string_view path_of(const http::RequestHead& head) {
  std::string_view path = head.path.substr(0, head.path.find('?'));
  if (path.starts_with("/v1/")) path.remove_prefix(3);
  return path;
}

std::optional<Dialect> completion_dialect(std::string_view path) {
  if (path == "/chat/completions") return Dialect::kOpenaiChat;
  if (path == "/completions") return Dialect::kOpenaiCompletions;
  return std::nullopt;
}

std::optional<TokenExchange::Way> token_way(std::string_view path) {
  if (path == "/tokenize") return TokenExchange::Way::kTokenize;
  if (path == "/detokenize") return TokenExchange::Way::kDetokenize;
  return std::nullopt;
}

constexpr std::string_view kModelPrefix = "/models/";

bool is_look_up(std::string_view path) {
  return path == "/models" || path.starts_with(kModelPrefix) || path == "/health" ||
         path == "/health/live" || path == "/load" || path == "/metrics";
}

// A step takes longer than it may: many times its prediction, or half a minute without one.
bool is_stuck(const engine::Snapshot& snapshot) {
  return snapshot.step_began && monotonic_ns() - *snapshot.step_began > snapshot.step_bound;
}

Error wrong_method(std::string_view method, std::string_view expected) {
  return Error(ErrorCode::kMethodNotAllowed,
               concat("this path takes ", expected, ", not ", method));
}

}  // namespace

net::Task<void> InstanceHandler::serve(http::ServerConnection& client,
                                       const http::RequestHead& head) {
  const std::string_view path = path_of(head);
  const std::string_view request_id = head.fields.value("x-request-id");
  const std::optional<Dialect> dialect = completion_dialect(path);
  if (dialect && head.method == "POST" && !draining_) {
    CompletionExchange exchange(services_, client, *dialect);
    co_await exchange.run(request_id);
    co_return;
  }
  const std::optional<TokenExchange::Way> way = token_way(path);
  if (way && head.method == "POST") {
    TokenExchange exchange(services_, client, *way);
    co_await exchange.run();
    co_return;
  }
  const std::optional<AdminAction> action = admin_action(path);
  if (action && head.method == "POST") {
    AdminExchange exchange(services_, client, *action);
    co_await exchange.run(head.fields.value("authorization"));
    co_return;
  }
  Reply reply;
  if (dialect && head.method == "POST") {
    reply = error_reply(Error(ErrorCode::kDraining, "the instance is shutting down"), {});
  } else if (dialect || way || action) {
    reply = error_reply(wrong_method(head.method, "POST"), {});
  } else {
    reply = look_up(head, path);
  }
  co_await send_reply(client, reply);
}

void InstanceHandler::refuse(const Error& error, std::string_view, std::string& out) {
  append_refusal(out, error);
}

Reply InstanceHandler::look_up(const http::RequestHead& head, std::string_view path) const {
  if (!is_look_up(path)) {
    return error_reply(
        Error(ErrorCode::kUnknownRoute,
              concat("no such path; there are /v1/chat/completions, /v1/completions, /v1/models, "
                     "/tokenize, /detokenize, /health, /health/live, /load and /metrics")),
        {});
  }
  if (head.method != "GET") return error_reply(wrong_method(head.method, "GET"), {});
  if (path == "/health") return health();
  if (path == "/health/live") return liveness();
  if (path == "/load") return load();
  if (path == "/models") return models({});
  if (path.starts_with(kModelPrefix)) return models(path.substr(kModelPrefix.size()));
  Reply reply;
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  registry_.collect(reply.body);
  return reply;
}

// 200 while requests are taken and steps go on.
Reply InstanceHandler::health() const {
  const engine::Snapshot snapshot = services_.engine.snapshot();
  const bool stuck = is_stuck(snapshot);
  Reply reply;
  if (stuck || draining_) reply.status = 503;
  json::Writer writer(reply.body);
  writer.begin_object();
  writer.field("status", stuck ? "stuck" : draining_ ? "draining" : "ok");
  writer.field("running", snapshot.load.running);
  writer.field("waiting", snapshot.load.waiting);
  writer.end_object();
  return reply;
}

// 200 while steps end, also in a drain: for whoever restarts what hangs.
Reply InstanceHandler::liveness() const {
  const engine::Snapshot snapshot = services_.engine.snapshot();
  const Nanos step_ns = snapshot.step_began ? monotonic_ns() - *snapshot.step_began : 0;
  const bool live = !is_stuck(snapshot);
  Reply reply;
  if (!live) reply.status = 503;
  json::Writer writer(reply.body);
  writer.begin_object();
  writer.field("live", live);
  writer.field("step_ms", step_ns / kMillisecond);
  writer.field("step_ms_allowed", snapshot.step_bound / kMillisecond);
  writer.end_object();
  return reply;
}

// `server_load` is vLLM's: requests that are being served.
Reply InstanceHandler::load() const {
  const engine::Load load = services_.engine.snapshot().load;
  Reply reply;
  json::Writer writer(reply.body);
  writer.begin_object();
  writer.field("server_load", load.running + load.waiting);
  writer.field("running", load.running);
  writer.field("waiting", load.waiting);
  writer.field("kv_blocks_used", load.blocks_used);
  writer.field("kv_blocks", load.blocks);
  writer.end_object();
  return reply;
}

Reply InstanceHandler::models(std::string_view name) const {
  Reply reply;
  if (name.empty()) {
    wire::append_model_list(reply.body, Family::kOpenai, std::span(&services_.model_id, 1));
  } else if (name == services_.model_id) {
    wire::append_model(reply.body, Family::kOpenai, services_.model_id);
  } else {
    return error_reply(wire::unknown_model(name), {});
  }
  return reply;
}

}  // namespace hw::engine_server
