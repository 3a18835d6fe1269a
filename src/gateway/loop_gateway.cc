#include "gateway/loop_gateway.h"

#include "base/text.h"
#include "edge/credentials.h"
#include "gateway/exchange.h"
#include "gateway/model_listing.h"
#include "json/writer.h"
#include "wire/error_body.h"

namespace hw::gateway {
namespace {

// What is read of a request to /api and the like.
constexpr uint64_t kMountedBodyMax = 1 << 20;

}  // namespace

LoopGateway::LoopGateway(net::Loop& loop, Common& common, BlockingThreads& blocking,
                         const Parts& parts, Registry& registry,
                         std::shared_ptr<const Snapshot> settings, net::TlsContext* tls)
    : context_(loop, common, blocking.names, parts.sink(loop.index()), registry),
      parts_(parts),
      blocking_(blocking),
      registry_(registry),
      settings_(std::move(settings)),
      secure_(tls != nullptr),
      server_(loop, *this, tls) {}

net::Task<void> LoopGateway::serve(http::ServerConnection& client, const http::RequestHead& head) {
  const edge::Route route = edge::resolve_route(head);
  if (route.kind == edge::RouteKind::kModelApi) {
    return Exchange::run(std::make_unique<Exchange>(context_, client, settings_, route), head);
  }
  if (route.kind == edge::RouteKind::kModels || route.kind == edge::RouteKind::kModel) {
    return ModelListing::run(std::make_unique<ModelListing>(context_, client, settings_, route),
                             head);
  }
  return serve_other(client, head, route);
}

net::Task<void> LoopGateway::serve_other(http::ServerConnection& client,
                                         const http::RequestHead& head, edge::Route route) {
  switch (route.kind) {
    case edge::RouteKind::kModelApi:
    case edge::RouteKind::kModels:
    case edge::RouteKind::kModel:
      break;
    case edge::RouteKind::kMounted:
      co_await serve_mounted(client, head, route);
      co_return;
    case edge::RouteKind::kProbe:
    case edge::RouteKind::kLivez: {
      const std::string body = "{\"status\": \"ok\"}\n";
      co_await answer(client, head, "application/json", 200, body);
      co_return;
    }
    case edge::RouteKind::kReadyz: {
      int status = 200;
      const std::string body = readiness_body(status);
      co_await answer(client, head, "application/json", status, body);
      co_return;
    }
    case edge::RouteKind::kMetrics: {
      std::string body;
      registry_.collect(body);
      co_await answer(client, head, "text/plain; version=0.0.4; charset=utf-8", 200, body);
      co_return;
    }
    case edge::RouteKind::kRefused:
      break;
  }
  const Error error = edge::refusal_error(route, head.method);
  co_await answer_error(client, head, route, error);
}

std::string LoopGateway::readiness_body(int& status) const {
  if (context_.common.draining.load(std::memory_order_relaxed)) {
    status = 503;
    return "{\"status\": \"draining\"}\n";
  }
  const Readiness state = parts_.readiness ? parts_.readiness() : Readiness();
  if (state.degraded.empty()) return "{\"status\": \"ready\"}\n";
  std::string out;
  json::Writer json(out);
  json.begin_object();
  json.key("status");
  json.value("degraded");
  json.key("reasons");
  json.begin_array();
  for (const std::string& reason : state.degraded) json.value(reason);
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

net::Task<void> LoopGateway::serve_mounted(http::ServerConnection& client,
                                           const http::RequestHead& head,
                                           const edge::Route& route) {
  if (!parts_.mounted) {
    edge::Route unknown = route;
    unknown.refusal = ErrorCode::kUnknownRoute;
    const Error error = edge::refusal_error(unknown, head.method);
    co_await answer_error(client, head, route, error);
    co_return;
  }
  const int64_t body_ms = settings_->options.timeouts.body_ms;
  const Nanos until =
      body_ms == 0 ? net::Deadline::kNever : client.head_read() + body_ms * kMillisecond;
  const Status read = co_await client.read_body(kMountedBodyMax, until);
  if (!read) {
    if (!client.gone()) co_await answer_error(client, head, route, read.error());
    co_return;
  }
  MountedRequest request;
  request.method = head.method;
  request.path = route.path;
  request.root = concat(secure_ ? "https://" : "http://", head.fields.value("host"));
  request.query = route.query.empty() ? route.query : route.query.substr(1);
  const edge::Credentials presented(head);
  for (const access::Presented& one : presented.all()) {
    request.credentials.push_back({one.source, std::string(one.value)});
  }
  request.body = client.body();
  MountedAnswer made;
  std::function<void()> job = [this, &request, &made] { made = parts_.mounted(request); };
  const bool asks = head.method == "GET" || head.method == "HEAD";
  net::BlockingPool& threads = asks ? blocking_.questions : blocking_.changes;
  const bool ran = co_await threads.run(context_.loop, job);
  if (!ran) {
    const Error busy(ErrorCode::kOverloaded,
                     asks ? "Too many requests to the admin API wait already; try again"
                          : "Too many changes wait already for the database; try again");
    co_await answer_error(client, head, route, busy);
    co_return;
  }
  co_await answer(client, head, made.content_type, made.status, made.body,
                  made.content_security_policy);
}

net::Task<void> LoopGateway::answer(http::ServerConnection& client, const http::RequestHead& head,
                                    std::string_view content_type, int status,
                                    const std::string& body, std::string_view policy) {
  if (!client.body_complete()) client.end_connection();
  const bool head_only = head.method == "HEAD";
  edge::OwnHead own;
  own.status = status;
  own.content_type = content_type;
  own.content_security_policy = policy;
  own.framing = {edge::AnswerFraming::Kind::kLength, body.size()};
  own.keep_alive = client.keep_alive();
  std::string out;
  edge::append_own_head(out, own);
  if (!head_only) out += body;
  client.watch();
  co_await client.write(std::string_view(out));
}

net::Task<void> LoopGateway::answer_error(http::ServerConnection& client,
                                          const http::RequestHead& head, const edge::Route& route,
                                          const Error& error) {
  if (!client.body_complete()) client.end_connection();
  const RequestId id = RequestId::make(wall_ns(), context_.random);
  std::string body, out;
  wire::append_error_body(body, edge::shape_of(route.family), error, id.view());
  const ErrorInfo& info = error_info(error.code);
  edge::OwnHead own;
  own.status = info.status;
  own.framing = {edge::AnswerFraming::Kind::kLength, body.size()};
  own.labels.request_id = id.view();
  own.keep_alive = client.keep_alive();
  own.retry_after_s = info.retry_after_s;
  own.should_retry = info.should_retry;
  if (info.status == 405) own.allow = route.allow;
  edge::append_own_head(out, own);
  if (head.method != "HEAD") out += body;
  co_await client.write(std::string_view(out));
}

void LoopGateway::refuse(const Error& error, std::string_view target, std::string& out) {
  const bool anthropic = target.find("/messages") != std::string_view::npos;
  const RequestId id = RequestId::make(wall_ns(), context_.random);
  std::string body;
  wire::append_error_body(body, edge::shape_of(anthropic ? Family::kAnthropic : Family::kOpenai),
                          error, id.view());
  edge::OwnHead own;
  const ErrorInfo& info = error_info(error.code);
  own.status = info.status;
  own.framing = {edge::AnswerFraming::Kind::kLength, body.size()};
  own.labels.request_id = id.view();
  own.keep_alive = false;
  own.retry_after_s = info.retry_after_s;
  own.should_retry = info.should_retry;
  edge::append_own_head(out, own);
  out += body;
}

}  // namespace hw::gateway
