// Lines for a shell and files of NAME=value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hw::settings {

// `text` as one word of a POSIX shell; plain words stay bare.
std::string shell_quoted(std::string_view text);

// A variable to set.
struct Variable {
  std::string name, value;
};
// `export NAME=value`, a line each.
std::string export_lines(const std::vector<Variable>& variables);

// A file of lines NAME=value, as programs load on their start: the value of the last line of that
// name, quotation marks taken off. False where there is none.
bool dotenv_value(std::string_view text, std::string_view name, std::string& value, int& line);
// The file with that variable set: in its last line of that name, else in a new last one. All else
// stays.
std::string with_dotenv(std::string_view text, std::string_view name, std::string_view value);

}  // namespace hw::settings
