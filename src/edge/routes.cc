#include "edge/routes.h"

#include <array>

#include "base/text.h"

namespace hw::edge {
namespace {

using route::Endpoint;

struct Row {
  std::string_view path;
  Endpoint endpoint;
};
constexpr std::array<Row, 6> kEndpoints = {{
    {"/chat/completions", Endpoint::kChat},
    {"/completions", Endpoint::kCompletions},
    {"/responses", Endpoint::kResponses},
    {"/embeddings", Endpoint::kEmbeddings},
    {"/messages", Endpoint::kMessages},
    {"/messages/count_tokens", Endpoint::kCountTokens},
}};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// "/v1" of "/v1" and of "/v1/...", not of "/v10".
bool has_segment(std::string_view path, std::string_view segment) {
  return starts_with(path, segment) &&
         (path.size() == segment.size() || path[segment.size()] == '/');
}

// What is left behind the prefixes that clients and their users put in front.
std::string_view below_prefixes(std::string_view path) {
  for (std::string_view vendor : {"/openai", "/anthropic"}) {
    if (has_segment(path, vendor)) path.remove_prefix(vendor.size());
  }
  while (has_segment(path, "/v1")) path.remove_prefix(3);
  return path;
}

bool is_mounted(std::string_view path) {
  for (std::string_view root : {"/api", "/console", "/chat", "/docs"}) {
    if (has_segment(path, root)) return true;
  }
  return false;
}

Route refuse(Route route, ErrorCode code) {
  route.kind = RouteKind::kRefused;
  route.refusal = code;
  return route;
}

Route model_route(Route route, const http::RequestHead& head, std::string_view rest) {
  const bool get = head.method == "GET" || head.method == "HEAD";
  if (rest == "/models" || starts_with(rest, "/models/")) {
    route.kind = rest == "/models" ? RouteKind::kModels : RouteKind::kModel;
    if (route.kind == RouteKind::kModel) route.id = rest.substr(8);
    route.allow = "GET, HEAD";
    return get ? route : refuse(route, ErrorCode::kMethodNotAllowed);
  }
  for (const Row& row : kEndpoints) {
    if (rest != row.path) continue;
    route.endpoint = row.endpoint;
    route.family = route::endpoint_family(row.endpoint);
    if (head.method == "POST") {
      route.kind = RouteKind::kModelApi;
      return route;
    }
    route.allow = "POST";
    const bool websocket = head.upgrade && row.endpoint == Endpoint::kResponses;
    return refuse(route, websocket ? ErrorCode::kUpgradeRefused : ErrorCode::kMethodNotAllowed);
  }
  return refuse(route, ErrorCode::kUnknownRoute);
}

// What nearly every request asks for: POST to an endpoint right below /v1.
bool is_plain_model_route(std::string_view path, const http::RequestHead& head, Route& route) {
  if (head.method != "POST" || !starts_with(path, "/v1/")) return false;
  for (const Row& row : kEndpoints) {
    if (path.substr(3) != row.path) continue;
    route.endpoint = row.endpoint;
    route.family = route::endpoint_family(row.endpoint);
    route.kind = RouteKind::kModelApi;
    return true;
  }
  return false;
}

}  // namespace

Route resolve_route(const http::RequestHead& head) {
  Route route;
  const size_t question = head.path.find('?');
  route.path = head.path.substr(0, question);
  if (question != std::string_view::npos) route.query = head.path.substr(question);
  std::string_view path = route.path;
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (is_plain_model_route(path, head, route)) return route;
  const bool anthropic = path.find("/messages") != std::string_view::npos ||
                         has_segment(path, "/anthropic") ||
                         head.fields.find("anthropic-version") != nullptr;
  route.family = anthropic ? Family::kAnthropic : Family::kOpenai;

  const bool get = head.method == "GET" || head.method == "HEAD";
  if (get && (path == "/" || path == "/health" || path == "/v1" || path == "/api/hello")) {
    route.kind = RouteKind::kProbe;
  } else if (get && path == "/livez") {
    route.kind = RouteKind::kLivez;
  } else if (get && path == "/readyz") {
    route.kind = RouteKind::kReadyz;
  } else if (get && path == "/metrics") {
    route.kind = RouteKind::kMetrics;
  } else if (is_mounted(path) && !has_segment(path, "/chat/completions")) {
    route.kind = RouteKind::kMounted;
  } else {
    return model_route(route, head, below_prefixes(path));
  }
  return route;
}

Dialect shape_of(Family family) {
  return family == Family::kAnthropic ? Dialect::kAnthropicMessages : Dialect::kOpenaiChat;
}

Error refusal_error(const Route& route, std::string_view method) {
  if (route.refusal == ErrorCode::kMethodNotAllowed) {
    return Error(route.refusal, concat("Your request: ", method, " is not possible on ", route.path,
                                       "; use ", route.allow));
  }
  if (route.refusal == ErrorCode::kUpgradeRefused) {
    return Error(route.refusal,
                 "Your request: WebSocket is not spoken here; send the same body by POST to "
                 "/v1/responses");
  }
  return Error(
      ErrorCode::kUnknownRoute,
      concat(
          "Your request: there is no ", method, " ", route.path,
          ". Headway serves /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/responses, "
          "/v1/messages, /v1/messages/count_tokens and /v1/models. The base URL of OpenAI clients "
          "ends in /v1, that of Anthropic clients does not"));
}

std::string decode_segment(std::string_view segment) {
  std::string out;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char l = lower(c);
    return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] == '%' && i + 2 < segment.size() && digit(segment[i + 1]) >= 0 &&
        digit(segment[i + 2]) >= 0) {
      out += static_cast<char>(digit(segment[i + 1]) * 16 + digit(segment[i + 2]));
      i += 2;
    } else {
      out += segment[i];
    }
  }
  return out;
}

}  // namespace hw::edge
