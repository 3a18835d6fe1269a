// SectionReader: puts a document, the environment and flags into the structs that options belong
// to, and collects every mistake instead of stopping at the first.
//
// Precedence: flags, then HEADWAY_<SECTION>_<NAME>, then the file, then the default.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/option.h"
#include "config/problem.h"
#include "config/secret.h"

namespace hw::config {

// A flag that stands for an option: `--gateway.listen 0.0.0.0:80`.
struct OptionFlag {
  std::string name;  // "gateway.listen"
  std::string value;
};

// Where a configuration comes from.
struct ConfigSources {
  std::string file;  // its path, for messages; empty: none was given
  std::string text;  // its content
  Environment environment;
  std::vector<OptionFlag> flags;
  Language language = Language::kEnglish;  // of the arguments of problems
};

// Where the value in force was written.
struct Origin {
  SourceKind source = SourceKind::kFile;
  std::string place;
  int line = 0;
};

// What was read into one target: where each option was set, for mistakes that show only later.
struct SectionValues {
  std::string prefix;  // "gateway" or "channels[0]"
  Origin section;      // of the section itself
  std::map<std::string, Origin, std::less<>> origins;

  // Whether the option was set, rightly or wrongly.
  bool has(std::string_view option) const { return origins.contains(option); }
  // A problem at the option, or at its section where it was not set.
  Problem problem(std::string_view option, ProblemKind kind,
                  std::vector<std::string> arguments = {}) const;
};

// The variable that stands for an option: "HEADWAY_GATEWAY_TLS_CERTIFICATE".
std::string environment_name(std::string_view section, std::string_view option);

// Reads one text against one table.
class SectionReader {
 public:
  // `table` and `sources` outlive the reader. Parses the text; a text that is no TOML, an unknown
  // section or flag is a problem already.
  SectionReader(const OptionTable& table, const ConfigSources& sources);

  // Reads a [section] into `target`, which is of the section's type.
  SectionValues read(std::string_view section, void* target);
  // How many [[section]] there are.
  size_t count(std::string_view section) const;
  // Reads the index-th [[section]].
  SectionValues read_item(std::string_view section, size_t index, void* target);

  // Adds a mistake that shows only when options are seen together.
  void report(Problem problem) { problems_.push_back(std::move(problem)); }
  // All mistakes in the order of their lines; empties the reader.
  std::vector<Problem> take_problems();
  // Variables that look like options and are none. Not mistakes: orchestrators set variables such
  // as HEADWAY_GATEWAY_SERVICE_HOST by themselves.
  std::vector<std::string> stray_variables() const;

 private:
  struct Place {
    Origin origin;
    std::string key;
  };
  void check_root();
  void check_flags();
  void read_table(const Section& section, const Value& table, std::string_view nested,
                  SectionValues& values, void* target);
  void read_overrides(const Section& section, SectionValues& values, void* target);
  void unknown(const Section& section, const Place& place, const std::string& name);
  void read_text(const Option& option, const Place& place, std::string_view text,
                 SectionValues& values, void* target);
  void assign(const Option& option, const Place& place, const Value& value, SectionValues& values,
              void* target);
  bool fits(const Field& field, const Place& place, Value& value);
  void expect(const Field& field, const Place& place, const Value& found);
  void add(const Place& place, ProblemKind kind, std::vector<std::string> arguments);

  const OptionTable& table_;
  const ConfigSources& sources_;
  Value root_;
  std::vector<Problem> problems_;
};

// The name out of `names` that is close to `name` (few letters wrong, missing or swapped), or "".
std::string closest_name(std::string_view name, const std::vector<std::string>& names);

}  // namespace hw::config
