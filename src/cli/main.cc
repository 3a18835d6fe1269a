#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "command/command_line.h"
#include "terminal/messages.h"
#include "terminal/output.h"

int main(int count, char** words) {
  using namespace hw::cli;
  using hw::terminal::complain;
  using hw::terminal::print;
  using hw::terminal::say;
  using hw::terminal::Text;
  std::vector<std::string> given(words + 1, words + count);
  if (!given.empty() && given[0] == "--version") given[0] = "version";
  const ParsedLine line = parse_line(commands(), given, hw::config::process_environment());
  switch (line.kind) {
    case ParsedLine::Kind::kHelp:
      print(line.text);
      return static_cast<int>(Exit::kFine);
    case ParsedLine::Kind::kError:
      complain(line.text);
      if (line.command != nullptr) {
        complain(say(line.arguments.language, Text::kSeeHelp, {std::string(line.command->name)}));
      }
      return static_cast<int>(Exit::kUsage);
    case ParsedLine::Kind::kRun:
      return static_cast<int>(line.command->run(line.arguments));
  }
  return static_cast<int>(Exit::kUsage);
}
