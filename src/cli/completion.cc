#include "cli/completion.h"

#include <algorithm>

#include "base/text.h"

namespace hw::cli {
namespace {

using config::Language;

// An option of a configuration file as a flag.
struct OptionFlagWords {
  std::string name;
  config::Words meaning;
};

std::vector<OptionFlagWords> option_flags_of(const Command& command) {
  std::vector<OptionFlagWords> out;
  for (const config::OptionTable* table : command.options) {
    for (const config::Section& section : table->sections) {
      if (section.kind != config::SectionKind::kTable) continue;
      for (const config::Option& option : section.options) {
        out.push_back({concat(section.name, ".", option.name), option.meaning});
      }
    }
  }
  return out;
}

std::vector<std::string> flags_of(const Command& command) {
  std::vector<std::string> out;
  for (const std::vector<Flag>* flags : {&command.flags, &shared_flags()}) {
    for (const Flag& flag : *flags) out.push_back(concat("--", flag.name));
  }
  for (const OptionFlagWords& option : option_flags_of(command)) out.push_back("--" + option.name);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += concat(out.empty() ? "" : " ", word);
  return out;
}

std::string with_blanks(std::string_view choices) {
  std::string out(choices);
  std::replace(out.begin(), out.end(), '|', ' ');
  return out;
}

// What can stand as the operand: "bash|zsh|fish" is a list of words, "NAME|ID" is not.
std::string operand_words(const Command& command) {
  const std::string_view operand = command.operand;
  const bool words =
      operand.find('|') != std::string_view::npos &&
      std::none_of(operand.begin(), operand.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return words ? with_blanks(operand) : std::string();
}

// First words, and per group ("key") its second words.
std::vector<std::string> first_words(const std::vector<Command>& commands) {
  std::vector<std::string> out;
  for (const Command& command : commands) {
    const std::string word(command.name.substr(0, command.name.find(' ')));
    if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
  }
  return out;
}

std::vector<std::string> second_words(const std::vector<Command>& commands,
                                      std::string_view group) {
  std::vector<std::string> out;
  const std::string prefix = concat(group, " ");
  for (const Command& command : commands) {
    if (command.name.starts_with(prefix)) out.emplace_back(command.name.substr(prefix.size()));
  }
  return out;
}

// Words behind a flag that takes one of a few.
std::string choice_cases(const std::vector<Command>& commands) {
  std::string out;
  std::vector<std::string_view> done;
  const auto add = [&](const Flag& flag) {
    if (flag.choices.empty() || std::find(done.begin(), done.end(), flag.name) != done.end())
      return;
    done.push_back(flag.name);
    out += concat("    --", flag.name, ") COMPREPLY=($(compgen -W \"", with_blanks(flag.choices),
                  "\" -- \"$word\")); return ;;\n");
  };
  for (const Command& command : commands) {
    for (const Flag& flag : command.flags) add(flag);
  }
  for (const Flag& flag : shared_flags()) add(flag);
  return out;
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string out =
      "# bash completion for headway: source <(headway completion bash)\n"
      "_headway() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command words\n"
      "  case $before in\n";
  out += choice_cases(commands);
  out +=
      "    --config|--model.path|--store.path) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
      "    --data) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n"
      "  esac\n"
      "  command=${COMP_WORDS[1]}\n"
      "  if [ \"$COMP_CWORD\" -gt 2 ]; then\n"
      "    case $command in\n";
  for (const std::string& word : first_words(commands)) {
    if (second_words(commands, word).empty()) continue;
    out += concat("      ", word, ") command=\"$command ${COMP_WORDS[2]}\" ;;\n");
  }
  out +=
      "    esac\n"
      "  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += concat("    words=\"", joined(first_words(commands)), "\"\n");
  out += "  else\n    case $command in\n";
  for (const Command& command : commands) {
    std::string words = joined(flags_of(command));
    if (const std::string more = operand_words(command); !more.empty()) words += " " + more;
    out += concat("      '", command.name, "') words=\"", words, "\" ;;\n");
  }
  for (const std::string& word : first_words(commands)) {
    const std::vector<std::string> second = second_words(commands, word);
    if (!second.empty()) out += concat("      '", word, "') words=\"", joined(second), "\" ;;\n");
  }
  out +=
      "    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -F _headway headway\n";
  return out;
}

// zsh runs the bash function through its own bridge.
std::string zsh_script(const std::vector<Command>& commands) {
  return concat(
      "#compdef headway\n"
      "# zsh completion for headway: source <(headway completion zsh)\n"
      "autoload -Uz bashcompinit && bashcompinit\n",
      bash_script(commands));
}

// `text` in single quotes of fish.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_condition(const Command& command) {
  const size_t blank = command.name.find(' ');
  std::string out = concat("__fish_seen_subcommand_from ", command.name.substr(0, blank));
  if (blank != std::string_view::npos) {
    out += concat("; and __fish_seen_subcommand_from ", command.name.substr(blank + 1));
  }
  return out;
}

std::string fish_script(const std::vector<Command>& commands, Language language) {
  std::string out =
      "# fish completion for headway: headway completion fish | source\n"
      "complete -c headway -f\n";
  for (const std::string& word : first_words(commands)) {
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const Command& one) { return one.name == word; });
    out += concat("complete -c headway -n __fish_use_subcommand -a ", word);
    if (command != commands.end()) {
      out += concat(" -d ", fish_quoted(command->summary.in(language)));
    }
    out += "\n";
    const std::vector<std::string> second = second_words(commands, word);
    if (second.empty()) continue;
    out += concat("complete -c headway -n '__fish_seen_subcommand_from ", word,
                  "; and not __fish_seen_subcommand_from ", joined(second), "' -a '",
                  joined(second), "'\n");
  }
  for (const Command& command : commands) {
    const std::string condition = fish_condition(command);
    for (const std::vector<Flag>* flags : {&command.flags, &shared_flags()}) {
      for (const Flag& flag : *flags) {
        out += concat("complete -c headway -n '", condition, "' -l ", flag.name);
        if (!flag.placeholder.empty()) out += " -r";
        if (!flag.choices.empty()) out += concat(" -a '", with_blanks(flag.choices), "'");
        out += concat(" -d ", fish_quoted(flag.meaning.in(language)), "\n");
      }
    }
    if (const std::string words = operand_words(command); !words.empty()) {
      out += concat("complete -c headway -n '", condition, "' -a '", words, "'\n");
    }
    for (const OptionFlagWords& option : option_flags_of(command)) {
      out += concat("complete -c headway -n '", condition, "' -l ", option.name, " -r -d ",
                    fish_quoted(option.meaning.in(language)), "\n");
    }
  }
  return out;
}

}  // namespace

std::string completion_script(Shell shell, const std::vector<Command>& commands,
                              Language language) {
  switch (shell) {
    case Shell::kBash:
      return bash_script(commands);
    case Shell::kZsh:
      return zsh_script(commands);
    case Shell::kFish:
      return fish_script(commands, language);
  }
  return {};
}

}  // namespace hw::cli
