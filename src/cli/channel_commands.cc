#include "base/text.h"
#include "cli/commands.h"
#include "command/gateway_client.h"
#include "json/scan.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
namespace {

// Names that it serves: its models, and those that it maps.
std::string names_of(json::Object channel) {
  std::string out;
  channel.find("models").array().each(
      [&](json::Value item) { out += concat(out.empty() ? "" : ", ", item.text_or("")); });
  channel.find("model_map").object().each([&](std::string_view asked, json::Value sent) {
    out += concat(out.empty() ? "" : ", ", asked, " -> ", sent.text_or(""));
  });
  return out;
}

std::string health_of(json::Object health, config::Language language) {
  const std::string_view state = health.find("state").text_or("");
  if (state == "ready") return say(language, Text::kReady);
  const Text text = state == "credential_refused" ? Text::kCredentialRefused : Text::kCoolingDown;
  const std::string reason(health.find("reason").text_or(""));
  return reason.empty() ? say(language, text) : concat(say(language, text), ": ", reason);
}

Exit list(const Arguments& arguments) {
  const GatewayClient gateway(arguments);
  const auto body = gateway.ask("GET", "/api/channels");
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
    return Exit::kFine;
  }
  const config::Language language = arguments.language;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(*body); !opened) return gateway.broken(opened.error());
  std::vector<Row> rows;
  document.root().find("channels").array().each([&](json::Value value) {
    const json::Object channel = value.object();
    rows.push_back({std::string(channel.find("name").text_or("")),
                    std::string(channel.find("dialect").text_or("")),
                    std::string(channel.find("base_url").text_or("")),
                    std::to_string(channel.find("priority").integer().value_or(0)),
                    health_of(channel.find("health").object(), language), names_of(channel)});
  });
  if (const Status ended = document.finish(); !ended) return gateway.broken(ended.error());
  if (rows.empty()) {
    note(say(language, Text::kNoChannels));
    return Exit::kFine;
  }
  print(render_table(
      {say(language, Text::kName), say(language, Text::kDialect), say(language, Text::kBaseUrl),
       say(language, Text::kPriority), say(language, Text::kHealth), say(language, Text::kModels)},
      rows, colour_of_output(arguments.environment)));
  return Exit::kFine;
}

}  // namespace

Command channel_list_command() {
  Command out;
  out.name = "channel list";
  out.summary = {"Lists the channels with their health; credentials are never shown.",
                 "列出通道及其健康状况；从不显示凭据。"};
  out.flags = with_client_flags({json_flag()});
  out.examples = {"headway channel list", "headway channel list --json"};
  out.run = list;
  return out;
}

}  // namespace hw::cli
