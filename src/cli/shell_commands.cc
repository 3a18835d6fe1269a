// The commands that tell about the program itself: completion and version.
#include "base/text.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "json/writer.h"
#include "terminal/messages.h"
#include "terminal/output.h"

namespace hw::cli {

using namespace terminal;
namespace {

Exit complete(const Arguments& arguments) {
  Shell shell;
  if (arguments.operand == "bash") {
    shell = Shell::kBash;
  } else if (arguments.operand == "zsh") {
    shell = Shell::kZsh;
  } else if (arguments.operand == "fish") {
    shell = Shell::kFish;
  } else {
    complain(say(arguments.language, Text::kNotAChoice,
                 {"completion", "bash, zsh, fish", arguments.operand}));
    return Exit::kUsage;
  }
  print(completion_script(shell, commands(), arguments.language));
  return Exit::kFine;
}

Exit version(const Arguments& arguments) {
  if (!arguments.has("json")) {
    print(concat("headway ", HEADWAY_VERSION, "\n"));
    return Exit::kFine;
  }
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("version", HEADWAY_VERSION);
  writer.field("compiler", __VERSION__);
  writer.end_object();
  print(out + "\n");
  return Exit::kFine;
}

}  // namespace

Command completion_command() {
  Command out;
  out.name = "completion";
  out.operand = "bash|zsh|fish";
  out.summary = {"Prints the completion script of a shell.", "打印某个 shell 的补全脚本。"};
  out.examples = {"source <(headway completion bash)", "source <(headway completion zsh)",
                  "headway completion fish | source"};
  out.run = complete;
  return out;
}

Command version_command() {
  Command out;
  out.name = "version";
  out.summary = {"Says which version this is.", "显示版本。"};
  out.flags = {json_flag()};
  out.examples = {"headway version", "headway version --json"};
  out.run = version;
  return out;
}

}  // namespace hw::cli
