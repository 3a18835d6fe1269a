#include "command/models_probe.h"

#include <algorithm>

#include "app/http_request.h"
#include "base/text.h"
#include "command/gateway_client.h"
#include "json/scan.h"

namespace hw::cli {
namespace {

constexpr Nanos kPatience = 5 * kSecond;
constexpr size_t kNamesMax = 10'000;

Result<app::HttpAnswer> get(const app::Url& url, const std::string& target,
                            const std::string& key) {
  app::HttpRequest request;
  request.target = concat(url.path, target);
  request.timeout_ns = kPatience;
  request.headers.emplace_back("Authorization", concat("Bearer ", key));
  return app::http_request(url, request);
}

// `data[].id`, the same in both families' shapes.
std::vector<std::string> names_in(const std::string& body) {
  std::vector<std::string> out;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (!document.open(body).has_value()) return out;
  document.root().find("data").array().each([&](json::Value model) {
    const std::string id(model.object().find("id").text_or(""));
    if (!id.empty() && out.size() < kNamesMax) out.push_back(id);
  });
  return out;
}

}  // namespace

setup::ProbeAnswer ask_models(const std::string& root, const std::string& key,
                              const std::vector<std::string>& models) {
  setup::ProbeAnswer out;
  const Result<app::Url> url = app::parse_url(root);
  if (!url.has_value()) {
    out.reason = url.error().message;
    return out;
  }
  const Result<app::HttpAnswer> list = get(*url, "/v1/models", key);
  if (!list.has_value()) {
    out.reason = list.error().message;
    return out;
  }
  out.status = list->status;
  if (out.status != 200) return out;
  out.names = names_in(list->body);
  for (const std::string& model : models) {
    if (model.empty() || std::find(out.names.begin(), out.names.end(), model) != out.names.end()) {
      continue;
    }
    const auto one = get(*url, concat("/v1/models/", percent_encode(model)), key);
    if (one.has_value() && (one->status == 404 || one->status == 403)) out.refused.push_back(model);
  }
  return out;
}

}  // namespace hw::cli
