// The admin API, /api: calls, keys and channels as JSON. Pure functions from a request to an
// answer, without sockets; the gateway mounts them on its blocking pool.
//
//   GET    /api/calls?limit&before&outcome&model&key&channel&since&slow_ms   {calls, next}
//   GET    /api/calls/{id}             by id, client_request_id or trace id; a key: its own calls
//   GET    /api/keys                   {keys}
//   POST   /api/keys                   {"name", "models"} -> the key and, this once, its secret
//   POST   /api/keys/{id}/disable      and .../enable, by id or name
//   DELETE /api/keys/{id}
//   GET    /api/channels               {channels}: settings and health, never a credential
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/declared_key.h"
#include "access/keys.h"
#include "base/clock.h"
#include "base/result.h"
#include "route/catalogue.h"
#include "store/call_query.h"
#include "store/key_store.h"
#include "timeline/call.h"

namespace hw::console {

// One request below /api. The views must outlive handle().
struct ApiRequest {
  std::string_view method;
  std::string_view path;   // "/api/calls/req_...", without the query, still percent-encoded
  std::string_view query;  // with or without its '?'
  std::span<const access::Presented> credentials;
  std::string_view body;
};

// The answer; the caller adds its own headers (x-request-id).
struct ApiResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;  // value of the Allow header; with 405 only
};

// Where the API finds what it shows. Each is called from any thread of the blocking pool and may
// block. What is reloaded is asked for anew with each request.
struct ApiSources {
  // Store::find().
  std::function<Result<std::vector<timeline::Call>>(std::string_view id)> find_calls;
  // Store::list().
  std::function<Result<store::CallPage>(const store::CallQuery& query)> list_calls;
  // KeyStore::list(), create(), set_state() and remove().
  std::function<Result<std::vector<store::StoredKey>>()> list_keys;
  // As above.
  std::function<Result<store::CreatedKey>(std::string_view name,
                                          const std::vector<std::string>& models)>
      create_key;
  // As above.
  std::function<Result<store::StoredKey>(std::string_view id, store::KeyState state)> set_key_state;
  // As above.
  std::function<Status(std::string_view id)> remove_key;
  std::function<void()> keys_changed;        // after create, disable, enable, delete
  std::function<std::string()> admin_token;  // empty: the API is closed
  std::function<std::shared_ptr<const access::KeySnapshot>()> keys;
  std::function<std::vector<access::DeclaredKey>()> declared_keys;  // secrets may be left out
  std::function<std::shared_ptr<const route::Catalogue>()> catalogue;
  const Clock* clock = nullptr;
};

// Longer bodies are refused; the caller need not read more.
inline constexpr size_t kApiBodyBytesMax = 64 << 10;

// Answers requests. Thread-safe as far as its sources are.
class Api {
 public:
  explicit Api(ApiSources sources) : sources_(std::move(sources)) {}
  // Never fails: what goes wrong is an answer of its own, {"error": {code, message, type}}.
  ApiResponse handle(const ApiRequest& request) const;

 private:
  ApiSources sources_;
};

}  // namespace hw::console
