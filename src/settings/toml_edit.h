// TomlEdit: changes single values of a TOML file that a person wrote and leaves every other byte
// as it was: order, comments, line ends, unknown keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/document.h"
#include "settings/json_edit.h"
#include "settings/toml_layout.h"

namespace hw::settings {

// A settings file while keys are being set. The first failure sticks and comes out of finish().
class TomlEdit {
 public:
  using Path = std::vector<std::string>;

  explicit TomlEdit(std::string_view text);

  // Sets the key at `path` to `raw`, a TOML value on one line. A new key goes behind the last one
  // of its table, in the form in which the table is written (header, dotted keys, inline); a new
  // table goes behind its neighbours, else to the end. A string that is equal stays as it is.
  void set(const Path& path, std::string_view raw, Existing existing = Existing::kReplace);
  // The same with a string.
  void set_text(const Path& path, std::string_view value, Existing existing = Existing::kReplace);

  // The text; kConfig where it was no TOML, or where a key cannot be set without touching anything
  // else. The message has the line where there is one. What comes out was parsed and compared: it
  // differs from what went in by the keys that were set and by nothing else.
  Result<std::string> finish() const;

 private:
  void insert_new(const Path& path, std::string_view raw);
  void insert_in_line(const TomlPair& holder, const Path& path, std::string_view raw);
  void check_against(const config::Value& before, const Path& path);

  std::string text_;
  config::Value tree_;
  std::string error_;
};

// The value at the end of `path`, or null.
const config::Value* find_path(const config::Value& table, const std::vector<std::string>& path);

}  // namespace hw::settings
