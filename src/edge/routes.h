// Routes: what a method and a path ask for, with the aliases that real clients send.
#pragma once

#include <string_view>

#include "base/dialect.h"
#include "base/error.h"
#include "http/head.h"
#include "route/channel.h"

namespace hw::edge {

// What becomes of a request.
enum class RouteKind : uint8_t {
  kModelApi,  // an endpoint that is relayed to a channel
  kModels,    // GET /v1/models
  kModel,     // GET /v1/models/{id}
  kLivez,
  kReadyz,
  kMetrics,
  kMounted,  // /api, /console, /chat, /docs: served by what app mounts there
  kProbe,    // HEAD /, HEAD /api/hello: a client looks whether somebody is there
  kRefused,  // see Route::refusal
};

// What a method and a path ask for.
struct Route {
  RouteKind kind = RouteKind::kRefused;
  route::Endpoint endpoint = route::Endpoint::kChat;  // with kModelApi
  Family family = Family::kOpenai;                    // shape of answers that we write
  ErrorCode refusal = ErrorCode::kUnknownRoute;       // with kRefused
  // The path without its query; for kModel the id, still percent-encoded.
  std::string_view path;
  std::string_view query;  // with its '?'; empty: none
  std::string_view id;
  std::string_view
      allow;  // with kMethodNotAllowed: what the path can be asked by (RFC 9110 §15.5.6)
};

// Accepts each path with and without /v1 and with /v1 twice, behind /openai or /anthropic, and with
// a trailing slash. An unknown path is refused in the shape that the path or an anthropic-version
// header suggests.
Route resolve_route(const http::RequestHead& head);

// The message of a refusal: what was asked and what would have been right.
Error refusal_error(const Route& route, std::string_view method);

// The dialect whose shape our answers take on a route that is no endpoint's.
Dialect shape_of(Family family);

// Percent-decoding of a path segment; what is no valid escape stays as it is.
std::string decode_segment(std::string_view segment);

}  // namespace hw::edge
