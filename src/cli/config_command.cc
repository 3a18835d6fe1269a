#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "app/data_dir.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "command/findings_view.h"
#include "command/gateway_client.h"
#include "command/models_probe.h"
#include "config/text_width.h"
#include "json/writer.h"
#include "settings/file_text.h"
#include "setup/plan.h"
#include "setup/sdk.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

using setup::Client;
using setup::Examination;
using setup::Finding;

constexpr std::string_view kDialects =
    "chat|responses|messages|openai-chat|openai-responses|anthropic-messages";

// What comes from files and variables does not steer the terminal.
void note_plain(const std::string& line) {
  note(config::printable(line));
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view word = trim(list.substr(0, end));
    if (!word.empty()) out.emplace_back(word);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

std::optional<Dialect> dialect_of(std::string_view name) {
  if (name.ends_with("chat")) return Dialect::kOpenaiChat;
  if (name.ends_with("responses")) return Dialect::kOpenaiResponses;
  if (name.ends_with("messages")) return Dialect::kAnthropicMessages;
  return std::nullopt;
}

// One run of `headway config`.
class ConfigRun {
 public:
  ConfigRun(const Arguments& arguments, Client client) : arguments_(arguments), client_(client) {
    where_.environment = arguments.environment;
    std::error_code error;
    where_.folder = std::filesystem::current_path(error).string();
    append_rfc3339(order_.time, wall_ns());
    order_.time = order_.time.substr(0, order_.time.size() - 4) + "Z";  // milliseconds
    order_.dialect = dialect_of(arguments.value("dialect"));
    order_.allow = split_list(arguments.value("allow"));
    order_.small_model = arguments.value("small-model");
  }

  Exit run() {
    if (arguments_.has("write") && files().empty()) {
      complain(text(Text::kConfigNoFile, {std::string(setup::client_name(client_))}));
      return Exit::kUsage;
    }
    if (!find_access()) return Exit::kUsage;
    if (arguments_.has("check") && !arguments_.has("write")) return check();
    find_model();
    say_dialect();
    return arguments_.has("write") ? write() : show();
  }

 private:
  std::string text(Text what, std::initializer_list<std::string> values = {}) const {
    return say(arguments_.language, what, values);
  }
  bool as_json() const { return arguments_.has("json"); }
  std::vector<setup::SettingsFile> files() const { return setup::settings_files(client_, where_); }

  // Base URL and key: flags and variables, else what `headway up` left in its folder. Its key goes
  // into set-ups of its own gateway only.
  bool find_access() {
    const std::string folder = arguments_.value("data");
    const app::DataDir dir(folder.empty() ? "data" : folder);
    const std::string running = dir.read_address();
    setup::Access& access = order_.access;
    if (arguments_.has("base-url")) {
      const std::string given = arguments_.value("base-url");
      access.root = setup::root_of(given);
      if (setup::host_of(given).empty()) {
        complain(config::printable(text(Text::kConfigBadUrl, {given})));
        return false;
      }
    } else {
      access.root = running.empty() ? std::string("http://127.0.0.1:8080") : running;
      guessed_ = running.empty();
    }
    access.api_key = arguments_.value("api-key");
    const bool ours = !running.empty() ? access.root == running : guessed_;
    if (access.api_key.empty() && ours) access.api_key = dir.read_secret("key");
    access.model = arguments_.value("model");
    return true;
  }

  // Without a name the gateway is asked for its first model.
  void find_model() {
    setup::Access& access = order_.access;
    if (!access.model.empty() || access.api_key.empty()) return;
    const setup::ProbeAnswer answer = ask_models(access.root, access.api_key, {});
    if (!answer.names.empty()) access.model = answer.names.front();
  }

  // What a client cannot be asked for.
  void say_dialect() const {
    if (!order_.dialect.has_value()) return;
    const std::string given = arguments_.value("dialect");
    if (client_ == Client::kCodex && order_.dialect != Dialect::kOpenaiResponses) {
      note(order_.dialect == Dialect::kOpenaiChat ? text(Text::kConfigCodexChat)
                                                  : one_dialect("responses", given));
    }
    if (client_ == Client::kClaudeCode && order_.dialect != Dialect::kAnthropicMessages) {
      note(one_dialect("messages", given));
    }
  }
  std::string one_dialect(std::string spoken, const std::string& given) const {
    return text(Text::kConfigOneDialect,
                {std::string(setup::client_title(client_)), std::move(spoken), given});
  }

  // --- Printing.

  Exit show() {
    const bool no_key = order_.access.api_key.empty(), no_model = order_.access.model.empty();
    if (no_key) order_.access.api_key = setup::kUnknownKey;
    if (no_model) order_.access.model = setup::kUnknownModel;
    if (as_json()) {
      print(shown_as_json() + "\n");
    } else {
      print(setup::printed(client_, order_, where_));
      if (!files().empty()) note_plain(text(Text::kConfigWhere, {files().front().path}));
      if (client_ == Client::kCodex) {
        const settings::Variable key = setup::variables_of(client_, order_).front();
        note_plain(text(Text::kConfigCodexKey, {key.name, files().back().path}));
        note_plain(concat("  ", key.name, "=", settings::shell_quoted(key.value)));
      }
    }
    if (no_key) note(text(Text::kConfigNoKey, {std::string(setup::kUnknownKey)}));
    if (no_model) note(text(Text::kConfigNoModel, {std::string(setup::kUnknownModel)}));
    return Exit::kFine;
  }

  std::string shown_as_json() const {
    const setup::Access& access = order_.access;
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("client", setup::client_name(client_));
    writer.field("base_url", access.root);
    writer.field("openai_base_url", setup::openai_base_url(access.root));
    writer.field("api_key", access.api_key);
    writer.field("model_id", access.model);
    writer.field("text", setup::printed(client_, order_, where_));
    writer.key("files");
    writer.begin_array();
    for (const setup::SettingsFile& file : files()) {
      writer.begin_object();
      writer.field("path", file.path);
      writer.field("text", file.merge("", order_).value_or(std::string()));
      writer.end_object();
    }
    writer.end_array();
    writer.key("environment");
    writer.begin_object();
    for (const settings::Variable& one : setup::variables_of(client_, order_)) {
      writer.field(one.name, one.value);
    }
    writer.end_object();
    writer.end_object();
    return out;
  }

  // --- Writing.

  // A file and what is to become of it.
  struct Change {
    settings::FileText before;
    std::string after;
    std::string backup;
    bool changes() const { return !before.there || before.text != after; }
  };

  Exit write() {
    if (order_.access.api_key.empty() || order_.access.model.empty()) {
      complain(
          text(order_.access.api_key.empty() ? Text::kConfigNeedsKey : Text::kConfigNeedsModel));
      return Exit::kUsage;
    }
    // All files are merged before the first one is written.
    std::vector<Change> changes;
    for (const setup::SettingsFile& file : files()) {
      Result<settings::FileText> before = settings::read_file(file.path);
      if (!before.has_value()) return refuse(before.error().message);
      Result<std::string> after = file.merge(before->text, order_);
      if (!after.has_value()) {
        return refuse(text(Text::kConfigCannotMerge, {file.path, after.error().message}));
      }
      changes.push_back({std::move(*before), std::move(*after), {}});
    }
    for (Change& change : changes) {
      if (!change.changes()) continue;
      Result<std::string> backup = settings::replace_file(change.before, change.after, order_.time);
      if (!backup.has_value()) return refuse(backup.error().message);
      change.backup = std::move(*backup);
    }
    Examination examination = examine();
    if (as_json()) {
      print(written_as_json(changes, examination) + "\n");
      return Exit::kFine;
    }
    for (const Change& change : changes) tell(change);
    for (const Finding& finding : examination.findings) {
      const std::string lines = lines_of(finding);
      note(std::string_view(lines).substr(0, lines.size() - 1));
    }
    return Exit::kFine;
  }

  Exit refuse(const std::string& message) const {
    complain(config::printable(message));
    return Exit::kUsage;
  }

  void tell(const Change& change) const {
    const std::string& path = change.before.path;
    if (!change.changes()) {
      print(config::printable(text(Text::kConfigUnchanged, {path})) + "\n");
    } else if (change.backup.empty()) {
      print(config::printable(text(Text::kConfigMade, {path})) + "\n");
    } else {
      print(config::printable(text(Text::kConfigChanged, {path, change.backup})) + "\n");
    }
  }

  std::string written_as_json(const std::vector<Change>& changes,
                              const Examination& examination) const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("client", setup::client_name(client_));
    writer.key("files");
    writer.begin_array();
    for (const Change& change : changes) {
      writer.begin_object();
      writer.field("path", change.before.path);
      writer.field("changed", change.changes());
      if (change.backup.empty()) {
        writer.field_null("backup");
      } else {
        writer.field("backup", change.backup);
      }
      writer.end_object();
    }
    writer.end_array();
    write_findings(writer, examination, arguments_.language);
    writer.end_object();
    return out;
  }

  // --- Checking.

  Examination examine() const {
    std::vector<settings::FileText> texts;
    for (const std::string& path : setup::examined_paths(client_, where_)) {
      Result<settings::FileText> file = settings::read_file(path);
      if (!file.has_value()) {
        complain(config::printable(file.error().message));
        file = settings::FileText{path, false, {}, 0};
      }
      texts.push_back(std::move(*file));
    }
    setup::Access expected = order_.access;
    if (guessed_) expected.root.clear();
    return setup::examine(client_, texts, where_, expected);
  }

  // Asks where the client would, with what it would send.
  void probe(Examination& examination) const {
    const std::string root = setup::root_of(examination.base_url.value);
    const std::string& key = examination.key.value;
    const bool sendable = std::all_of(key.begin(), key.end(), [](char c) {
      return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f;
    });
    if (root.empty() || key.empty() || !sendable) return;
    std::vector<std::string> models;
    for (const setup::Setting& model : examination.models) models.push_back(model.value);
    setup::judge_answer(examination, ask_models(root, key, models));
  }

  Exit check() const {
    Examination examination = examine();
    if (!arguments_.has("offline")) probe(examination);
    if (as_json()) {
      print(checked_as_json(examination) + "\n");
    } else {
      for (const Finding& finding : examination.findings) print(lines_of(finding));
      if (!examination.failed()) {
        print(config::printable(text(Text::kConfigFine, {std::string(setup::client_title(client_)),
                                                         examination.base_url.value})) +
              "\n");
      }
    }
    return examination.failed() ? Exit::kNo : Exit::kFine;
  }

  std::string checked_as_json(const Examination& examination) const {
    std::string out;
    json::Writer writer(out);
    writer.begin_object();
    writer.field("client", setup::client_name(client_));
    writer.field("ok", !examination.failed());
    writer.field("base_url", examination.base_url.value);
    writer.key("models");
    writer.begin_array();
    for (const setup::Setting& model : examination.models) {
      if (!model.empty()) writer.value(model.value);
    }
    writer.end_array();
    write_findings(writer, examination, arguments_.language);
    writer.end_object();
    return out;
  }

  std::string lines_of(const Finding& finding) const {
    return finding_lines(finding, arguments_.language);
  }

  const Arguments& arguments_;
  Client client_;
  setup::Surroundings where_;
  setup::Order order_;
  bool guessed_ = false;  // nobody said where the gateway is
};

Exit configure(const Arguments& arguments) {
  Client client;
  if (!setup::parse_client(arguments.operand, client)) {
    std::string names(setup::kClientNames);
    for (size_t at = names.find('|'); at != std::string::npos; at = names.find('|', at)) {
      names.replace(at, 1, ", ");
    }
    complain(say(arguments.language, Text::kNotAChoice, {"config", names, arguments.operand}));
    return Exit::kUsage;
  }
  return ConfigRun(arguments, client).run();
}

std::vector<Flag> config_flags() {
  return {
      {"write",
       "",
       {"Merges into the client's own files; all else in them stays, the old ones are kept beside "
        "them.",
        "合并到客户端自己的文件；其余内容不变，旧文件保留在旁边。"}},
      {"check",
       "",
       {"Reads what is there and says what will not work, each with the line to change.",
        "读取现有设置，指出不可用之处及应改的行。"}},
      {"offline", "", {"--check without asking the gateway.", "--check 时不访问网关。"}},
      {"base-url",
       "URL",
       {"The gateway, with or without /v1; otherwise a running `headway up` is found.",
        "网关地址，带或不带 /v1；省略则寻找运行中的 `headway up`。"},
       "HEADWAY_BASE_URL"},
      {"api-key", "KEY", {"The key to set up.", "要配置的密钥。"}, "HEADWAY_API_KEY"},
      {"model",
       "NAME",
       {"The model; otherwise the first that the gateway lists.",
        "模型；省略则取网关列出的第一个。"},
       "HEADWAY_MODEL"},
      {"small-model",
       "NAME",
       {"Claude Code's model for small tasks; otherwise the same one.",
        "Claude Code 处理小任务的模型；省略则相同。"}},
      {"dialect",
       "chat|responses|messages",
       {"What Cline and curl speak (chat).", "Cline 与 curl 使用的方言（chat）。"},
       "",
       kDialects},
      {"allow",
       "LIST",
       {"Claude Code: tools to allow without asking, with commas: Read,Bash(git:*).",
        "Claude Code：无需询问即可使用的工具，以逗号分隔：Read,Bash(git:*)。"}},
      {"data",
       "DIR",
       {"The folder of `headway up`; otherwise ./data.", "`headway up` 的目录；省略则为 ./data。"},
       "HEADWAY_DATA"},
      json_flag(),
  };
}

}  // namespace

Command config_command() {
  Command out;
  out.name = "config";
  out.operand = setup::kClientNames;
  out.summary = {
      "Sets up a client for this gateway: prints its file or lines, merges them in, or "
      "checks what is there.",
      "为客户端配置本网关：打印文件或命令行、合并写入，或检查现有设置。"};
  out.flags = config_flags();
  out.examples = {"headway config claude-code --write", "headway config codex --check",
                  "headway config curl --dialect messages", "eval \"$(headway config env)\""};
  out.run = configure;
  return out;
}

}  // namespace hw::cli
