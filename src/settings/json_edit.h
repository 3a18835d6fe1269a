// JsonEdit: changes single members of a JSON file that a person wrote and leaves every other byte
// as it was: order, indents, line ends, unknown members.
//
//   JsonEdit edit(text);
//   edit.set_text({"env", "ANTHROPIC_MODEL"}, "m");
//   Result<std::string> merged = edit.finish();
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "settings/json_tree.h"

namespace hw::settings {

// What becomes of a value that is there already.
enum class Existing : uint8_t { kReplace, kKeep };

// A settings file while members are being set. The first failure sticks and comes out of finish().
class JsonEdit {
 public:
  using Path = std::vector<std::string>;

  // A file that is empty or blank stands for an empty object. A byte order mark is kept.
  explicit JsonEdit(std::string_view text);

  // Sets the member at `path` to `raw`, which is JSON text. Objects on the way that are missing (or
  // null) are made; a new member comes last in its object, in the style of the file. A value that
  // is equal already stays as it is written.
  void set(const Path& path, std::string_view raw, Existing existing = Existing::kReplace);
  // The same with a string.
  void set_text(const Path& path, std::string_view value, Existing existing = Existing::kReplace);
  // Adds a string to the array at `path`, which is made where it is missing, unless it holds it.
  void add_text(const Path& path, std::string_view value);

  // Whether there is a member at `path` that is not null.
  bool has(const Path& path) const;
  // What the text is by now.
  const JsonNode& root() const { return root_; }

  // The text; kConfig where it was no JSON object, or where something on a path is neither an
  // object (for add_text: an array) nor null. The message has the line.
  Result<std::string> finish() const;

 private:
  void replace(size_t begin, size_t end, std::string_view by);
  void insert(const JsonNode& container, std::string entry);
  void fail_at(size_t offset, std::string_view key, std::string_view what);

  std::string mark_;  // the byte order mark, or nothing
  std::string text_;
  JsonNode root_;
  std::string error_;
};

}  // namespace hw::settings
