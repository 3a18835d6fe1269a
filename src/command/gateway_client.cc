#include "command/gateway_client.h"

#include "app/data_dir.h"
#include "base/text.h"
#include "config/text_width.h"
#include "json/scan.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

constexpr std::string_view kDefaultBaseUrl = "http://127.0.0.1:8080";
constexpr std::string_view kDefaultData = "data";

// Without what an SDK's base URL has behind it.
std::string as_root(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// `error.message` of an answer, else its first line.
std::string message_of(const std::string& body) {
  json::Document document;
  if (document.open(body).has_value()) {
    const std::string message(document.root().find("error").object().find("message").text_or(""));
    if (document.finish().has_value() && !message.empty()) return message;
  }
  return body.substr(0, body.find('\n'));
}

}  // namespace

const std::vector<Flag>& client_flags() {
  static const std::vector<Flag> flags = {
      {"base-url",
       "URL",
       {"The gateway, with or without /v1; otherwise a running `headway up` is found.",
        "网关地址，带或不带 /v1；省略则寻找运行中的 `headway up`。"},
       "HEADWAY_BASE_URL"},
      {"admin-token", "TOKEN", {"Its admin token.", "网关的管理令牌。"}, "HEADWAY_ADMIN_TOKEN"},
      {"data",
       "DIR",
       {"The folder of `headway up`; otherwise ./data.", "`headway up` 的目录；省略则为 ./data。"},
       "HEADWAY_DATA"},
  };
  return flags;
}

const Flag& key_flag() {
  static const Flag flag = {"api-key",
                            "KEY",
                            {"A key, for its own calls, where there is no admin token.",
                             "密钥；没有管理令牌时用于查看它自己的调用。"},
                            "HEADWAY_API_KEY"};
  return flag;
}

namespace {

// The first secret that there is, and where it was found.
void find_token(const Arguments& arguments, const app::DataDir& dir, bool ours, GatewayPlace& out) {
  const auto take = [&](std::string secret, std::string origin) {
    if (!out.token.empty() || secret.empty()) return;
    out.token = std::move(secret);
    out.token_origin = std::move(origin);
  };
  take(arguments.value("admin-token"), "--admin-token / HEADWAY_ADMIN_TOKEN");
  if (ours) take(dir.read_secret("admin_token"), concat(dir.path(), "/admin_token"));
  take(arguments.value("api-key"), "--api-key / HEADWAY_API_KEY");
  if (ours) take(dir.read_secret("key"), concat(dir.path(), "/key"));
}

}  // namespace

GatewayPlace find_gateway(const Arguments& arguments) {
  const std::string folder = arguments.value("data");
  const app::DataDir dir(folder.empty() ? std::string(kDefaultData) : folder);
  const std::string running = dir.read_address();
  GatewayPlace out;
  out.base_url = as_root(arguments.value("base-url"));
  const bool given = !out.base_url.empty();
  if (!given) out.base_url = running.empty() ? std::string(kDefaultBaseUrl) : running;
  const bool ours = !given || out.base_url == running;
  find_token(arguments, dir, ours, out);
  return out;
}

tl::expected<std::string, Exit> GatewayClient::ask(std::string_view method,
                                                   const std::string& target,
                                                   const std::string& body) const {
  const config::Language language = arguments_.language;
  const Result<app::Url> url = app::parse_url(place_.base_url);
  if (!url.has_value()) {
    complain(say(language, Text::kBadBaseUrl, {url.error().message}));
    return tl::unexpected(Exit::kUsage);
  }
  app::HttpRequest request;
  request.method = std::string(method);
  request.target = url->path + target;
  request.body = body;
  if (!place_.token.empty()) {
    request.headers.emplace_back("Authorization", concat("Bearer ", place_.token));
  }
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  Result<app::HttpAnswer> answer = app::http_request(*url, request);
  if (!answer.has_value()) {
    complain(say(language, Text::kUnreachable, {place_.base_url, answer.error().message}));
    return tl::unexpected(Exit::kUnreachable);
  }
  if (answer->status / 100 == 2) return std::move(answer->body);
  if (answer->status == 404 && !arguments_.operand.empty()) {
    complain(config::printable(
        say(language, Text::kUnknownThere, {place_.base_url, arguments_.operand})));
    return tl::unexpected(Exit::kNo);
  }
  complain(config::printable(
      say(language, Text::kRefused,
          {place_.base_url, std::to_string(answer->status), message_of(answer->body)})));
  if (answer->status == 401 || answer->status == 403) {
    complain(place_.token.empty() ? say(language, Text::kNoTokenHint)
                                  : say(language, Text::kRefusedHint, {place_.token_origin}));
  }
  if (answer->status >= 500) return tl::unexpected(Exit::kUnreachable);
  return tl::unexpected(answer->status == 404 ? Exit::kNo : Exit::kUsage);
}

Exit GatewayClient::broken(const Error& error) const {
  complain(say(arguments_.language, Text::kBrokenAnswer, {place_.base_url, error.message}));
  return Exit::kUnreachable;
}

std::string percent_encode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

}  // namespace hw::cli
