#include "base/text.h"
#include "cli/commands.h"
#include "command/gateway_client.h"
#include "json/scan.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"
#include "terminal/table.h"

namespace hw::cli {

using namespace terminal;
namespace {

std::string joined(json::Array list) {
  std::string out;
  list.each([&](json::Value item) { out += concat(out.empty() ? "" : ", ", item.text_or("")); });
  return out;
}

Text state_text(std::string_view state) {
  return state == "active" ? Text::kActive : Text::kDisabled;
}

// "a,b" as a JSON array.
void write_models(json::Writer& writer, std::string_view models) {
  writer.begin_array();
  while (!models.empty()) {
    const size_t comma = std::min(models.find(','), models.size());
    const std::string_view one = trim(models.substr(0, comma));
    if (!one.empty()) writer.value(one);
    models.remove_prefix(std::min(comma + 1, models.size()));
  }
  writer.end_array();
}

// Whether a list such as "," or "" has nothing in it. A script's empty variable must not become a
// key for everything.
bool names_none(std::string_view models) {
  return models.find_first_not_of(", \t") == std::string_view::npos;
}

Exit create(const Arguments& arguments) {
  const config::Language language = arguments.language;
  if (arguments.value("name").empty()) {
    complain(say(language, Text::kMissingFlag, {"key create", "--name"}));
    return Exit::kUsage;
  }
  std::string wanted;
  json::Writer writer(wanted);
  writer.begin_object();
  writer.field("name", arguments.value("name"));
  if (arguments.has("models")) {
    if (names_none(arguments.value("models"))) {
      complain(say(language, Text::kNoModelNamed));
      return Exit::kUsage;
    }
    writer.key("models");
    write_models(writer, arguments.value("models"));
  }
  writer.end_object();
  const GatewayClient gateway(arguments);
  const auto body = gateway.ask("POST", "/api/keys", wanted);
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
    return Exit::kFine;
  }
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(*body); !opened) return gateway.broken(opened.error());
  const json::Object made = document.root();
  note(say(language, Text::kKeyCreated,
           {std::string(made.find("name").text_or("")), std::string(made.find("id").text_or(""))}));
  // The secret alone goes to standard output: KEY=$(headway key create --name app).
  print(concat(made.find("secret").text_or(""), "\n"));
  note(say(language, Text::kKeyShownOnce));
  return Exit::kFine;
}

Exit list(const Arguments& arguments) {
  const GatewayClient gateway(arguments);
  const auto body = gateway.ask("GET", "/api/keys");
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
    return Exit::kFine;
  }
  const config::Language language = arguments.language;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(*body); !opened) return gateway.broken(opened.error());
  std::vector<Row> rows;
  document.root().find("keys").array().each([&](json::Value value) {
    const json::Object key = value.object();
    const bool declared = key.find("origin").text_or("") == "declared";
    const std::string created(key.find("created").text_or(""));
    rows.push_back({std::string(key.find("name").text_or("")),
                    say(language, state_text(key.find("state").text_or(""))),
                    say(language, declared ? Text::kDeclared : Text::kStored),
                    std::string(key.find("id").text_or("-")),
                    std::string(key.find("prefix").text_or("-")), created.substr(0, 10),
                    joined(key.find("models").array())});
  });
  if (const Status ended = document.finish(); !ended) return gateway.broken(ended.error());
  if (rows.empty()) {
    note(say(language, Text::kNoKeys));
    return Exit::kFine;
  }
  print(render_table(
      {say(language, Text::kName), say(language, Text::kState), say(language, Text::kOrigin), "id",
       say(language, Text::kPrefix), say(language, Text::kCreated), say(language, Text::kModels)},
      rows, colour_of_output(arguments.environment)));
  return Exit::kFine;
}

// POST .../enable and .../disable.
Exit set_state(const Arguments& arguments, std::string_view action, Text state) {
  const GatewayClient gateway(arguments);
  const auto body =
      gateway.ask("POST", concat("/api/keys/", percent_encode(arguments.operand), "/", action));
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
  } else {
    print(say(arguments.language, Text::kKeyChanged,
              {arguments.operand, say(arguments.language, state)}) +
          "\n");
  }
  return Exit::kFine;
}

Exit remove(const Arguments& arguments) {
  const GatewayClient gateway(arguments);
  const auto body = gateway.ask("DELETE", concat("/api/keys/", percent_encode(arguments.operand)));
  if (!body.has_value()) return body.error();
  if (arguments.has("json")) {
    print(*body);
  } else {
    print(say(arguments.language, Text::kKeyDeleted, {arguments.operand}) + "\n");
  }
  return Exit::kFine;
}

// What the commands on one key have in common.
Command on_key(std::string_view name, config::Words summary) {
  Command out;
  out.name = name;
  out.operand = "NAME|ID";
  out.summary = summary;
  out.flags = with_client_flags({json_flag()});
  return out;
}

}  // namespace

Command key_create_command() {
  Command out;
  out.name = "key create";
  out.summary = {"Makes a key and shows its secret, this once.",
                 "创建密钥并显示其内容，仅此一次。"};
  out.flags = with_client_flags({
      {"name", "NAME", {"Shown in calls and logs.", "显示在调用与日志中的名称。"}},
      {"models",
       "LIST",
       {"Models that it may ask for, with commas; one * at the end of each. Without: all.",
        "可请求的模型，以逗号分隔；每个末尾可有一个 *。省略则为全部。"}},
      json_flag(),
  });
  out.examples = {"headway key create --name app",
                  "headway key create --name ci --models \"smollm2-135m,claude-*\"",
                  "export HEADWAY_API_KEY=$(headway key create --name shell)"};
  out.run = create;
  return out;
}

Command key_list_command() {
  Command out;
  out.name = "key list";
  out.summary = {"Lists the keys; secrets are known to nobody.", "列出密钥；没有人知道其内容。"};
  out.flags = with_client_flags({json_flag()});
  out.examples = {"headway key list", "headway key list --json"};
  out.run = list;
  return out;
}

Command key_enable_command() {
  Command out = on_key("key enable", {"Lets a disabled key in again.", "重新启用停用的密钥。"});
  out.examples = {"headway key enable app"};
  out.run = [](const Arguments& arguments) {
    return set_state(arguments, "enable", Text::kActive);
  };
  return out;
}

Command key_disable_command() {
  Command out = on_key("key disable",
                       {"Refuses a key until it is enabled again.", "停用密钥，直到重新启用。"});
  out.examples = {"headway key disable app"};
  out.run = [](const Arguments& arguments) {
    return set_state(arguments, "disable", Text::kDisabled);
  };
  return out;
}

Command key_delete_command() {
  Command out = on_key("key delete", {"Deletes a key for good.", "永久删除密钥。"});
  out.examples = {"headway key delete app", "headway key delete key_0123456789abcdef"};
  out.run = remove;
  return out;
}

}  // namespace hw::cli
