#include "app/option_reference.h"

#include <algorithm>

#include "app/engine_file.h"
#include "app/gateway_file.h"
#include "base/text.h"
#include "config/section_reader.h"
#include "config/text_width.h"

namespace hw::app {

using namespace config;
namespace {

bool has_secret_required(const Section& section) {
  return std::any_of(section.options.begin(), section.options.end(), [](const Option& option) {
    return option.presence == Presence::kRequired && option.field.type == OptionType::kSecret;
  });
}

std::string heading(const Section& section) {
  return section.kind == SectionKind::kList ? concat("[[", section.name, "]]")
                                            : concat("[", section.name, "]");
}

// "integer, 0 to 1024", "`abort`, `serve`, `probe`"
std::string type_cell(const Field& field) {
  const std::string range = concat(", ", toml_number(field.least), " to ", toml_number(field.most));
  switch (field.type) {
    case OptionType::kInteger:
      return concat("integer", range);
    case OptionType::kNumber:
      return concat("number", range);
    case OptionType::kBoolean:
      return "`true`, `false`";
    case OptionType::kText:
      return "text";
    case OptionType::kChoice: {
      std::string out;
      for (const std::string& one : field.choices) {
        out += concat(out.empty() ? "" : ", ", "`\"", one, "\"`");
      }
      return out;
    }
    case OptionType::kSecret:
      return "secret";
    case OptionType::kTextList:
      return "list of texts";
    case OptionType::kTextMap:
      return "table of texts";
  }
  return {};
}

std::string default_cell(const Option& option, const std::string& value) {
  if (option.presence == Presence::kRequired) return "required";
  return value.empty() ? "none" : concat("`", value, "`");
}

void append_section(std::string& out, const Section& section) {
  out += concat("### `", heading(section), "`\n\n", section.meaning.en, "\n\n");
  out += "| name | type | unit | default | change takes | meaning | why so |\n";
  out += "|---|---|---|---|---|---|---|\n";
  const std::vector<std::string> defaults = section.defaults();
  for (size_t i = 0; i < section.options.size(); ++i) {
    const Option& option = section.options[i];
    out += concat("| `", option.name, "` | ", type_cell(option.field), " | ", option.unit, " | ",
                  default_cell(option, defaults[i]), " | ",
                  option.applies == Applies::kOnReload ? "reload" : "restart", " | ",
                  option.meaning.en, " | ", option.reason, " |\n");
  }
  out += "\n";
}

constexpr std::string_view kPageHead = R"(# Configuration

This page is written by `headway serve --print-reference` from the table of options that the program
itself reads; a test fails when the two differ.

`headway serve --config headway.toml` and `headway engine --config engine.toml` read one TOML file
each. Every option has a default. An unknown key, a wrong type or a value out of range is an error
that names the file, the line, the key and what was expected; all mistakes of a file are reported at
once, and the program does not start.

* **Precedence.** A flag (`--gateway.listen 0.0.0.0:80`), then the environment
  (`HEADWAY_GATEWAY_LISTEN`), then the file, then the default. A flag is `--SECTION.NAME`; a
  variable is `HEADWAY_SECTION_NAME` in capitals, a dot becomes an underscore. Lists
  (`[[channels]]`, `[[keys]]`) come from the file only.
* **Secrets.** `"env:NAME"` reads an environment variable, `"file:PATH"` a file; any other text is
  the secret itself. Secrets are never printed, and keys are kept as SHA-256 only.
* **Paths** are relative to the working directory.
* **Reload.** `SIGHUP` reads the file again. A file with a mistake changes nothing and says why in
  the log. Options marked `restart` keep their value until the next start, which the log mentions;
  an exchange keeps the settings that it began with.
* `headway serve --print-sample` prints a file with every option; `headway serve --check` reads a
  file and stops.

)";

}  // namespace

std::string reference_page() {
  std::string out(kPageHead);
  for (const OptionTable* table : {&gateway_options(), &engine_options()}) {
    out += concat("## `", table->file, "`\n\n");
    for (const Section& section : table->sections) append_section(out, section);
  }
  out.pop_back();
  return out;
}

std::string options_help(const OptionTable& table, Language language) {
  const bool zh = language == Language::kChinese;
  std::string out;
  for (const Section& section : table.sections) {
    out += concat(heading(section), "  ", section.meaning.in(language), "\n");
    const std::vector<std::string> defaults = section.defaults();
    for (size_t i = 0; i < section.options.size(); ++i) {
      const Option& option = section.options[i];
      out += concat("  ", option.name);
      if (option.presence == Presence::kRequired) {
        out += zh ? " （必填）" : " (required)";
      } else if (!defaults[i].empty()) {
        out += concat(" = ", defaults[i]);
      }
      std::string words = concat(option.meaning.in(language), zh ? "" : " ");
      words += zh ? "应为：" : "Takes ";
      words += expectation(option.field, language);
      if (section.kind == SectionKind::kTable) {
        words += concat(zh ? "；" : "; ", environment_name(section.name, option.name));
      }
      if (option.applies == Applies::kOnRestart) words += zh ? "；重启生效" : "; after a restart";
      out += "\n";
      for (const std::string& line : wrap(words, 94)) out += concat("      ", line, "\n");
    }
    out += "\n";
  }
  out.pop_back();
  return out;
}

std::string sample_file(const OptionTable& table, Language language) {
  std::string out;
  for (const Section& section : table.sections) {
    const bool commented = has_secret_required(section);
    out += concat(out.empty() ? "" : "\n", "# ", section.meaning.in(language), "\n",
                  commented ? "# " : "", heading(section), "\n");
    const std::vector<std::string> defaults = section.defaults();
    for (size_t i = 0; i < section.options.size(); ++i) {
      const Option& option = section.options[i];
      const bool from_example = option.presence == Presence::kRequired || option.name == "models";
      std::string value = defaults[i];
      bool off = commented || value.empty();
      if (from_example && !option.example.empty()) {
        value = option.example;
        off = commented;
      } else if (!option.example.empty()) {
        value = option.example;
        off = true;
      }
      if (value.empty()) continue;
      out += concat("# ", option.meaning.in(language), "\n", off ? "# " : "", option.name, " = ",
                    value, "\n");
    }
  }
  return out;
}

}  // namespace hw::app
