// The command line: a table of commands with their flags, and the one parser for all of them. Help
// and completion come from the same table.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/language.h"
#include "config/option.h"
#include "config/secret.h"
#include "config/section_reader.h"

namespace hw::cli {

// Exit codes of every command.
enum class Exit : int {
  kFine = 0,
  kNo = 1,            // the answer is "no": not found, a failed check
  kUsage = 2,         // command line or configuration
  kUnreachable = 3,   // could not reach something
  kInconclusive = 4,  // compare: neither a change nor its absence is shown
  kSuspected = 5,     // compare: slower, by too few runs to say so
};

// One flag. A flag without a placeholder is a switch; one whose placeholder ends in "..." takes all
// words up to the next flag, may be given again, and its value has a line for each.
struct Flag {
  std::string_view name;         // "follow", written --follow
  std::string_view placeholder;  // "SECONDS"; empty: a switch
  config::Words meaning;
  std::string_view variable = {};  // stands for the flag: "HEADWAY_BASE_URL"
  std::string_view choices = {};   // "openai|anthropic", for completion and checking; empty: any
};

struct Arguments;

// One command, "trace" or "key create".
struct Command {
  std::string_view name;
  std::string_view operand;  // "ID", "NAME"; empty: none; in brackets: may be left out
  config::Words summary;
  std::vector<Flag> flags;
  std::vector<std::string_view> examples;
  // Does it; writes to standard output and error.
  std::function<Exit(const Arguments&)> run;
  std::vector<const config::OptionTable*> options = {};  // whose --section.name flags it takes
};

// What was asked for.
struct Arguments {
  config::Language language = config::Language::kEnglish;
  config::Environment environment;
  std::string operand;
  std::vector<config::OptionFlag> options;

  // The flag's value: from the command line, else from its variable, else empty.
  std::string value(std::string_view flag) const;
  // Whether it was given, on the command line or by its variable.
  bool has(std::string_view flag) const { return values.contains(flag); }

  std::map<std::string, std::string, std::less<>> values;  // by flag; of a switch "true"
};

// What parsing gave.
struct ParsedLine {
  // What to do with it.
  enum class Kind : unsigned char {
    kRun,    // run `command` with `arguments`
    kHelp,   // `text` is the help
    kError,  // `text` says what is wrong
  };
  Kind kind = Kind::kError;
  const Command* command = nullptr;
  Arguments arguments;
  std::string text;
};

// Parses `words` (without the program's name) against `commands`. --help and -h work anywhere;
// --lang en|zh too, else LC_ALL, LC_MESSAGES and LANG say the language. `--` ends the flags.
ParsedLine parse_line(const std::vector<Command>& commands, const std::vector<std::string>& words,
                      const config::Environment& environment);

// The list of commands, and the help of one.
std::string program_help(const std::vector<Command>& commands, config::Language language);
std::string command_help(const Command& command, config::Language language);

// Flags that every command takes: --help, --lang.
const std::vector<Flag>& shared_flags();

}  // namespace hw::cli
