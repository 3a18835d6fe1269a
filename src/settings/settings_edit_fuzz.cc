// Settings files are what anybody wrote: an edit gives a file that has the key and still parses, or
// fails; it never reads outside the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "config/document.h"
#include "settings/json_edit.h"
#include "settings/shell.h"
#include "settings/toml_edit.h"
#include "settings/toml_layout.h"

using namespace hw;
using namespace hw::settings;

namespace {

void edit_json(std::string_view text) {
  JsonEdit edit(text);
  edit.set_text({"env", "NAME"}, "value");
  edit.add_text({"permissions", "allow"}, "rule");
  const Result<std::string> once = edit.finish();
  if (!once.has_value()) return;
  const Result<JsonNode> tree = parse_json(*once);
  HW_ASSERT(tree.has_value());
  const JsonNode* node = tree->find_path({"env", "NAME"});
  HW_ASSERT(node != nullptr && node->text == "value");
  JsonEdit again(*once);
  again.set_text({"env", "NAME"}, "value");
  again.add_text({"permissions", "allow"}, "rule");
  const Result<std::string> twice = again.finish();
  HW_ASSERT(twice.has_value() && *twice == *once);
}

void edit_toml(std::string_view text) {
  (void)layout_of_toml(text);
  TomlEdit edit(text);
  edit.set_text({"model"}, "value");
  edit.set_text({"model_providers", "headway", "base_url"}, "value");
  const Result<std::string> once = edit.finish();
  if (!once.has_value()) return;
  const auto tree = config::parse_document(*once);
  HW_ASSERT(tree.has_value());
  for (const TomlEdit::Path& path :
       {TomlEdit::Path{"model"}, TomlEdit::Path{"model_providers", "headway", "base_url"}}) {
    const config::Value* value = find_path(*tree, path);
    HW_ASSERT(value != nullptr && value->text == "value");
  }
  TomlEdit again(*once);
  again.set_text({"model"}, "value");
  again.set_text({"model_providers", "headway", "base_url"}, "value");
  HW_ASSERT(again.finish().has_value() && *again.finish() == *once);
}

void edit_dotenv(std::string_view text) {
  const std::string once = with_dotenv(text, "NAME", "value");
  std::string value;
  int line = 0;
  HW_ASSERT(dotenv_value(once, "NAME", value, line) && value == "value");
  HW_ASSERT(with_dotenv(once, "NAME", "value") == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      edit_json(text);
      break;
    case 1:
      edit_toml(text);
      break;
    case 2:
      edit_dotenv(text);
      break;
  }
  return 0;
}
