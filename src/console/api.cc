#include "console/api.h"

#include "base/text.h"
#include "console/answer.h"
#include "console/call_routes.h"
#include "console/channel_routes.h"
#include "console/key_routes.h"
#include "console/query.h"

namespace hw::console {
namespace {

constexpr std::string_view kRoot = "/api";

// Takes "/segment" off `path`; false where it does not begin with a slash and a letter.
bool take_segment(std::string_view& path, std::string_view& segment) {
  if (path.size() < 2 || path[0] != '/') return false;
  const size_t end = std::min(path.find('/', 1), path.size());
  segment = path.substr(1, end - 1);
  path.remove_prefix(end);
  return true;
}

// A request's path in parts: /api/COLLECTION/ID/ACTION.
struct Target {
  std::string_view collection;
  std::string id;
  std::string_view action;
  bool known = false;
};

Target parse_target(std::string_view path) {
  Target out;
  if (!path.starts_with(kRoot)) return out;
  path.remove_prefix(kRoot.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string_view id;
  if (!take_segment(path, out.collection)) return out;
  if (!path.empty() && !take_segment(path, id)) return out;
  if (!path.empty() && !take_segment(path, out.action)) return out;
  out.id = percent_decode(id);
  out.known = path.empty();
  return out;
}

bool carries_token(std::string_view token, std::span<const access::Presented> credentials) {
  const access::Digest wanted = access::sha256(token);
  bool found = false;
  for (const access::Presented& one : credentials) {
    const access::Digest given = access::sha256(access::presented_secret(one));
    found |= access::equal_in_constant_time(wanted, given);
  }
  return found;
}

ApiResponse not_allowed(std::string_view allow) {
  ApiResponse out =
      error_answer(Error(ErrorCode::kMethodNotAllowed, concat("This path takes ", allow, ".")));
  out.allow = std::string(allow);
  return out;
}

ApiResponse unknown_path() {
  return error_answer(Error(ErrorCode::kUnknownRoute,
                            "There is no such path; there are /api/calls, /api/calls/{id}, "
                            "/api/keys, /api/keys/{id}/disable, /api/keys/{id}/enable and "
                            "/api/channels."));
}

ApiResponse handle_keys(const ApiSources& sources, const ApiRequest& request,
                        const Target& target) {
  if (target.id.empty()) {
    if (request.method == "GET") return list_keys(sources);
    if (request.method == "POST") return create_key(sources, request.body);
    return not_allowed("GET, POST");
  }
  if (target.action.empty()) {
    return request.method == "DELETE" ? remove_key(sources, target.id) : not_allowed("DELETE");
  }
  const bool enable = target.action == "enable";
  if (!enable && target.action != "disable") return unknown_path();
  if (request.method != "POST") return not_allowed("POST");
  return set_key_state(sources, target.id,
                       enable ? store::KeyState::kActive : store::KeyState::kDisabled);
}

ApiResponse handle_as_admin(const ApiSources& sources, const ApiRequest& request,
                            const Target& target) {
  const bool get = request.method == "GET";
  if (target.collection == "calls" && target.action.empty()) {
    if (!get) return not_allowed("GET");
    return target.id.empty() ? list_calls(sources, request.query)
                             : show_call(sources, target.id, nullptr);
  }
  if (target.collection == "keys") return handle_keys(sources, request, target);
  if (target.collection == "channels" && target.id.empty()) {
    return get ? list_channels(sources) : not_allowed("GET");
  }
  return unknown_path();
}

// Without the admin token: a key reads its own calls, and nothing else is open to it.
ApiResponse handle_as_key(const ApiSources& sources, const ApiRequest& request,
                          const Target& target, bool closed) {
  const std::shared_ptr<const access::KeySnapshot> keys = sources.keys();
  const Result<access::Admission> who = access::authorize(*keys, request.credentials);
  const bool own_call = target.collection == "calls" && !target.id.empty() && target.action.empty();
  if (who.has_value() && own_call && request.method == "GET") {
    return show_call(sources, target.id, who->key);
  }
  if (closed) {
    return error_answer(Error(ErrorCode::kForbidden,
                              "The admin API is closed: set gateway.admin_token in the "
                              "configuration file to open it."));
  }
  if (who.has_value()) {
    return error_answer(Error(ErrorCode::kForbidden,
                              concat("The key \"", who->key->name,
                                     "\" may read its own calls only (GET /api/calls/{id}); this "
                                     "path takes the admin token.")));
  }
  return error_answer(Error(ErrorCode::kUnauthorized,
                            "This path takes the admin token: send `Authorization: Bearer TOKEN` "
                            "(`headway up` keeps it in DIR/admin_token)."));
}

}  // namespace

ApiResponse Api::handle(const ApiRequest& request) const {
  if (request.body.size() > kApiBodyBytesMax) {
    return error_answer(Error(ErrorCode::kBodyTooLarge,
                              concat("A body here has at most ", kApiBodyBytesMax, " bytes.")));
  }
  const Target target = parse_target(request.path);
  const std::string token = sources_.admin_token();
  const bool admin = !token.empty() && carries_token(token, request.credentials);
  if (!admin) return handle_as_key(sources_, request, target, token.empty());
  if (!target.known) return unknown_path();
  return handle_as_admin(sources_, request, target);
}

}  // namespace hw::console
