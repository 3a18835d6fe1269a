#include "command/command_line.h"

#include <algorithm>

#include "base/text.h"
#include "config/text_width.h"
#include "terminal/messages.h"

namespace hw::cli {

using namespace terminal;
namespace {

using config::Language;

constexpr int kColumns = 100;

Language language_of(const config::Environment& environment) {
  for (const std::string_view name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty()) {
      return config::language_of_locale(found->second);
    }
  }
  return Language::kEnglish;
}

// The command whose name the first words spell; how many words that took.
const Command* find_command(const std::vector<Command>& commands,
                            const std::vector<std::string>& words, size_t& used) {
  for (const size_t count : {size_t{2}, size_t{1}}) {
    if (words.size() < count) continue;
    const std::string name = count == 2 ? concat(words[0], " ", words[1]) : words[0];
    for (const Command& command : commands) {
      if (command.name != name) continue;
      used = count;
      return &command;
    }
  }
  return nullptr;
}

// Names that begin with "key " when the word is "key".
bool is_group(const std::vector<Command>& commands, std::string_view word) {
  const std::string prefix = concat(word, " ");
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& command) { return command.name.starts_with(prefix); });
}

std::string flag_usage(const Flag& flag) {
  return flag.placeholder.empty() ? concat("--", flag.name)
                                  : concat("--", flag.name, " ", flag.placeholder);
}

bool is_list(const Flag& flag) {
  return flag.placeholder.ends_with("...");
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Reads the words behind a command's name.
class LineParser {
 public:
  LineParser(const Command& command, ParsedLine& out) : command_(command), out_(out) {}

  void parse(const std::vector<std::string>& words, size_t at) {
    bool flags_end = false;
    for (; at < words.size() && !failed_; ++at) {
      const std::string& word = words[at];
      if (word == "--" && !flags_end) {
        flags_end = true;
      } else if (!flags_end && word.size() > 1 && word[0] == '-') {
        list_ = nullptr;
        at += read_flag(word, at + 1 < words.size() ? &words[at + 1] : nullptr);
      } else if (list_ != nullptr && !flags_end) {
        set(*list_, word);
      } else if (command_.operand.empty() || !out_.arguments.operand.empty()) {
        fail(Text::kUnexpectedWord, {word, std::string(command_.name)});
      } else {
        out_.arguments.operand = word;
      }
    }
    const bool required = !command_.operand.empty() && command_.operand[0] != '[';
    if (!failed_ && required && out_.arguments.operand.empty()) {
      fail(Text::kMissingOperand, {std::string(command_.name), std::string(command_.operand)});
    }
  }

  void fill_from_environment() {
    for (const Flag& flag : command_.flags) {
      if (flag.variable.empty() || out_.arguments.has(flag.name)) continue;
      const auto found = out_.arguments.environment.find(flag.variable);
      if (found == out_.arguments.environment.end() || found->second.empty()) continue;
      set(flag, found->second);
    }
  }

  bool failed() const { return failed_; }

 private:
  // How many words beyond the flag itself were used.
  size_t read_flag(const std::string& word, const std::string* next) {
    const size_t equals = word.find('=');
    const std::string given = word.substr(0, equals);
    const std::string name = given.starts_with("--") ? given.substr(2) : "";
    const bool inline_value = equals != std::string::npos;
    const Flag* flag = find_flag(name);
    if (flag == nullptr && !command_.options.empty() && name.find('.') != std::string::npos) {
      if (!inline_value && next == nullptr) {
        fail(Text::kMissingValue, {given, "VALUE"});
        return 0;
      }
      out_.arguments.options.push_back({name, inline_value ? word.substr(equals + 1) : *next});
      return inline_value ? 0 : 1;
    }
    if (flag == nullptr) {
      unknown(given, name);
      return 0;
    }
    if (flag->placeholder.empty()) {
      if (inline_value) fail(Text::kUnexpectedValue, {given});
      out_.arguments.values.insert_or_assign(std::string(flag->name), "true");
      return 0;
    }
    if (!inline_value && next == nullptr) {
      fail(Text::kMissingValue, {given, std::string(flag->placeholder)});
      return 0;
    }
    if (is_list(*flag) && !inline_value) list_ = flag;
    set(*flag, inline_value ? word.substr(equals + 1) : *next);
    return inline_value ? 0 : 1;
  }

  void set(const Flag& flag, const std::string& value) {
    const std::vector<std::string> choices = split(flag.choices, '|');
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
      std::string list;
      for (const std::string& one : choices) list += concat(list.empty() ? "" : ", ", one);
      fail(Text::kNotAChoice, {concat("--", flag.name), list, value});
      return;
    }
    std::string& kept = out_.arguments.values[std::string(flag.name)];
    kept = is_list(flag) && !kept.empty() ? concat(kept, "\n", value) : value;
  }

  const Flag* find_flag(std::string_view name) const {
    for (const std::vector<Flag>* flags : {&command_.flags, &shared_flags()}) {
      for (const Flag& flag : *flags) {
        if (flag.name == name) return &flag;
      }
    }
    return nullptr;
  }

  void unknown(const std::string& given, const std::string& name) {
    std::vector<std::string> names;
    for (const std::vector<Flag>* flags : {&command_.flags, &shared_flags()}) {
      for (const Flag& flag : *flags) names.emplace_back(flag.name);
    }
    const std::string close = config::closest_name(name, names);
    if (close.empty()) {
      fail(Text::kUnknownFlag, {given, std::string(command_.name)});
    } else {
      fail(Text::kUnknownFlagClose, {given, concat("--", close)});
    }
  }

  void fail(Text text, std::vector<std::string> arguments) {
    if (failed_) return;
    failed_ = true;
    out_.kind = ParsedLine::Kind::kError;
    out_.text = say(out_.arguments.language, text, arguments);
  }

  const Command& command_;
  ParsedLine& out_;
  const Flag* list_ = nullptr;  // that further words belong to
  bool failed_ = false;
};

ParsedLine no_command(const std::vector<Command>& commands, const std::vector<std::string>& words,
                      Language language) {
  ParsedLine out;
  out.kind = ParsedLine::Kind::kError;
  std::vector<std::string> names;
  const bool group = is_group(commands, words[0]);
  const bool alone = group && words.size() == 1;
  for (const Command& command : commands) {
    if (!group || command.name.starts_with(concat(words[0], " "))) names.emplace_back(command.name);
  }
  std::string list;
  for (const std::string& name : names) list += concat(list.empty() ? "" : ", ", name);
  const std::string given = group && words.size() > 1 ? concat(words[0], " ", words[1]) : words[0];
  const std::string close = alone ? std::string() : config::closest_name(given, names);
  out.text = alone           ? say(language, Text::kIncompleteCommand, {given, list})
             : close.empty() ? say(language, Text::kUnknownCommand, {given, list})
                             : say(language, Text::kUnknownCommandClose, {given, close});
  return out;
}

// `left` in a column of its own, `right` wrapped beside it.
std::string two_columns(std::string_view left, std::string_view right, int left_columns) {
  const std::string indent(static_cast<size_t>(left_columns) + 4, ' ');
  std::string out = concat("  ", config::pad_right(left, left_columns), "  ");
  if (config::display_width(left) > left_columns) out = concat("  ", left, "\n", indent);
  bool first = true;
  for (const std::string& line : config::wrap(right, kColumns - left_columns - 4)) {
    out += concat(first ? "" : indent, line, "\n");
    first = false;
  }
  if (first) out += "\n";
  return out;
}

}  // namespace

std::string Arguments::value(std::string_view flag) const {
  const auto found = values.find(flag);
  return found == values.end() ? std::string() : found->second;
}

const std::vector<Flag>& shared_flags() {
  static const std::vector<Flag> flags = {
      {"help", "", {"Show this help.", "显示此帮助。"}},
      {"lang",
       "en|zh",
       {"Language; otherwise LC_ALL and LANG say.", "语言；否则由 LC_ALL 与 LANG 决定。"},
       "",
       "en|zh"},
  };
  return flags;
}

ParsedLine parse_line(const std::vector<Command>& commands, const std::vector<std::string>& given,
                      const config::Environment& environment) {
  Language language = language_of(environment);
  bool help = false;
  std::vector<std::string> words;
  bool flags_end = false;
  for (size_t i = 0; i < given.size(); ++i) {
    flags_end = flags_end || given[i] == "--";
    const bool is_flag = !flags_end;
    if (is_flag && given[i] == "--lang" && i + 1 < given.size() &&
        config::parse_language(given[i + 1], language)) {
      ++i;
    } else if (is_flag && given[i].starts_with("--lang=") &&
               config::parse_language(given[i].substr(7), language)) {
      continue;
    } else if (is_flag && (given[i] == "--help" || given[i] == "-h")) {
      help = true;
    } else {
      words.push_back(given[i]);
    }
  }
  ParsedLine out;
  size_t used = 0;
  const Command* command = find_command(commands, words, used);
  if (command == nullptr && (words.empty() || words[0] == "help")) {
    out.kind = ParsedLine::Kind::kHelp;
    out.text = program_help(commands, language);
    return out;
  }
  if (command == nullptr && help && is_group(commands, words[0])) {
    out.kind = ParsedLine::Kind::kHelp;
    for (const Command& one : commands) {
      if (!one.name.starts_with(concat(words[0], " "))) continue;
      out.text += concat(out.text.empty() ? "" : "\n", command_help(one, language));
    }
    return out;
  }
  if (command == nullptr) return no_command(commands, words, language);
  if (help) {
    out.kind = ParsedLine::Kind::kHelp;
    out.text = command_help(*command, language);
    return out;
  }
  out.kind = ParsedLine::Kind::kRun;
  out.command = command;
  out.arguments.language = language;
  out.arguments.environment = environment;
  LineParser parser(*command, out);
  parser.parse(words, used);
  if (!parser.failed()) parser.fill_from_environment();
  return out;
}

std::string program_help(const std::vector<Command>& commands, Language language) {
  std::string out = concat(say(language, Text::kProgram), "\n\n", say(language, Text::kUsage),
                           " headway ", say(language, Text::kCommandWord), " [--help]\n\n");
  for (const Command& command : commands) {
    out += two_columns(concat(command.name, command.operand.empty() ? "" : " ", command.operand),
                       command.summary.in(language), 24);
  }
  return out;
}

std::string command_help(const Command& command, Language language) {
  std::string out = concat(say(language, Text::kUsage), " headway ", command.name);
  if (!command.operand.empty()) out += concat(" ", command.operand);
  out += concat(" [", say(language, Text::kFlagsWord), "]\n\n");
  for (const std::string& line : config::wrap(command.summary.in(language), kColumns)) {
    out += concat(line, "\n");
  }
  out += "\n";
  for (const std::vector<Flag>* flags : {&command.flags, &shared_flags()}) {
    for (const Flag& flag : *flags) {
      std::string meaning(flag.meaning.in(language));
      if (!flag.variable.empty()) meaning += concat(" (", flag.variable, ")");
      out += two_columns(flag_usage(flag), meaning, 24);
    }
  }
  if (!command.options.empty()) {
    out += two_columns("--SECTION.NAME VALUE", say(language, Text::kOptionFlags), 24);
  }
  out += concat("\n", say(language, Text::kExamples), "\n");
  for (const std::string_view example : command.examples) out += concat("  ", example, "\n");
  return out;
}

}  // namespace hw::cli
