#include "settings/json_tree.h"

#include <algorithm>

#include "base/text.h"
#include "json/check.h"

namespace hw::settings {
namespace {

JsonNode node_of(const json::Value& value) {
  JsonNode out;
  out.kind = value.kind();
  const json::Range range = value.range();
  out.begin = range.offset;
  out.end = range.offset + range.length;
  switch (out.kind) {
    case json::Kind::kObject:
      value.object().each([&](std::string_view key, json::Value member) {
        std::string name(key);  // a view of the document's scratch, which the next string reuses
        JsonNode node = node_of(member);
        out.members.push_back({std::move(name), std::move(node)});
      });
      break;
    case json::Kind::kArray:
      value.array().each([&](json::Value item) { out.items.push_back(node_of(item)); });
      break;
    case json::Kind::kString:
      out.text = value.text_or("");
      break;
    case json::Kind::kNull:
    case json::Kind::kBool:
    case json::Kind::kNumber:
      out.text = value.raw();
      break;
  }
  return out;
}

// The scan tells places in bytes, "... (byte 12)"; people count lines.
std::string with_line(std::string_view text, const std::string& message) {
  constexpr std::string_view kByte = " (byte ";
  const size_t found = message.rfind(kByte);
  if (found == std::string::npos || !message.ends_with(')')) return message;
  const size_t begin = found + kByte.size();
  size_t offset = 0;
  if (!parse_number(std::string_view(message).substr(begin, message.size() - begin - 1), offset)) {
    return message;
  }
  return concat("line ", line_at(text, offset), ": ", message.substr(0, found));
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->key == key) return &member->value;
  }
  return nullptr;
}

const JsonNode* JsonNode::find_path(const std::vector<std::string>& path) const {
  const JsonNode* node = this;
  for (const std::string& key : path) {
    node = node->find(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string_view JsonNode::text_of(std::string_view key) const {
  const JsonNode* node = find(key);
  return node != nullptr && node->kind == json::Kind::kString ? node->text : std::string_view();
}

Result<JsonNode> parse_json(std::string_view text) {
  if (text.size() > kSettingsBytesMax) {
    return fail(ErrorCode::kConfig, concat("it is larger than ", kSettingsBytesMax, " bytes"));
  }
  std::string without_mark;  // blanks in place of a byte order mark keep all places as they are
  if (text.starts_with("\xef\xbb\xbf")) {
    without_mark = concat("   ", text.substr(3));
    text = without_mark;
  }
  json::Document document(ErrorCode::kConfig);
  if (const Status opened = document.open(text); !opened.has_value()) {
    return fail(ErrorCode::kConfig, with_line(text, opened.error().message));
  }
  JsonNode out;
  out.kind = json::Kind::kObject;
  // Depth is limited by the check of the whole before anything recurses into it.
  const bool whole = json::is_json_object(text);
  if (whole) {
    document.root().each([&](std::string_view key, json::Value value) {
      std::string name(key);
      JsonNode node = node_of(value);
      out.members.push_back({std::move(name), std::move(node)});
    });
  } else {
    document.root().each([](std::string_view, json::Value value) { (void)value.range(); });
  }
  const json::Range range = document.ok() ? document.root().range() : json::Range{};
  out.begin = range.offset, out.end = range.offset + range.length;
  const Status finished = document.finish();
  if (!finished.has_value()) {
    return fail(ErrorCode::kConfig, with_line(text, finished.error().message));
  }
  if (!whole) return fail(ErrorCode::kConfig, "it is not valid JSON");
  return out;
}

int line_at(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace hw::settings
