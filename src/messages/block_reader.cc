#include "messages/block_reader.h"

#include <algorithm>

#include "base/text.h"

namespace hw::translate {
namespace {

// Results of tools hold blocks that hold no results; deeper ones are nobody's.
constexpr int kNestingMax = 2;
// More paths than this are not told apart: a call's account has fewer marks.
constexpr size_t kNestedFieldsMax = 64;

// The members that blocks have, whatever their type.
struct Block {
  json::Value type, text, source, id, name, input, tool_use_id, content, is_error, thinking,
      signature, data, title, context, citations, cache_control, caller, tool_name;
};

bool read_member(std::string_view key, const json::Value& value, Block& block) {
  struct Member {
    std::string_view name;
    json::Value Block::* place;
  };
  static constexpr Member kMembers[] = {
      {"type", &Block::type},
      {"text", &Block::text},
      {"cache_control", &Block::cache_control},
      {"source", &Block::source},
      {"id", &Block::id},
      {"name", &Block::name},
      {"input", &Block::input},
      {"tool_use_id", &Block::tool_use_id},
      {"content", &Block::content},
      {"is_error", &Block::is_error},
      {"thinking", &Block::thinking},
      {"signature", &Block::signature},
      {"data", &Block::data},
      {"title", &Block::title},
      {"context", &Block::context},
      {"citations", &Block::citations},
      {"caller", &Block::caller},
      {"tool_name", &Block::tool_name},
  };
  for (const Member& member : kMembers) {
    if (key != member.name) continue;
    block.*member.place = value;
    return true;
  }
  return false;
}

Raw raw_unless_null(const json::Value& value) {
  return value.is_null() ? Raw() : value.raw();
}

// A list of citations, or how a document may be cited. Without any it says nothing.
Raw raw_citations(const json::Value& value) {
  if (value.kind() == json::Kind::kArray) return value.array().count() == 0 ? Raw() : value.raw();
  if (value.object().find("enabled").boolean() == false) return {};
  return raw_unless_null(value);
}

class BlockReader {
 public:
  BlockReader(const ContentPlace& place, Request& out, size_t& parts_left)
      : place_(place), out_(out), parts_left_(parts_left) {}

  Status read_content(const json::Value& content, std::vector<Part>& parts, int depth);

 private:
  Status read_block(const json::Value& value, std::vector<Part>& parts, int depth);
  Status read_text(const Block& block, std::vector<Part>& parts);
  Status read_image(const Block& block, std::vector<Part>& parts);
  Status read_document(const Block& block, std::vector<Part>& parts, int depth);
  Status read_document_of_blocks(Part& document, const json::Value& content,
                                 std::vector<Part>& parts, int depth);
  Status read_search_result(const Block& block, std::vector<Part>& parts, int depth);
  Status read_tool_use(const Block& block, std::vector<Part>& parts);
  Status read_tool_result(const Block& block, std::vector<Part>& parts, int depth);
  void read_thinking(const Block& block, std::vector<Part>& parts);
  Status read_media(const json::Value& source, Media& media);
  void note_others(const json::Value& value);
  Part& add(std::vector<Part>& parts, Part::Kind kind, const Block& block);
  Status wrong(std::string_view member, std::string_view expected) const;
  Text joined_text(const std::vector<Part>& parts);

  const ContentPlace& place_;
  Request& out_;
  size_t& parts_left_;
};

Status BlockReader::wrong(std::string_view member, std::string_view expected) const {
  return fail(ErrorCode::kBadRequest,
              concat("Your request: ", place_.field, member, " must be ", expected));
}

Status BlockReader::read_content(const json::Value& content, std::vector<Part>& parts, int depth) {
  switch (content.kind()) {
    case json::Kind::kString:
      parts.emplace_back().text = Text::of(content);
      return {};
    case json::Kind::kNull:
      return {};
    case json::Kind::kArray:
      break;
    case json::Kind::kBool:
    case json::Kind::kNumber:
    case json::Kind::kObject:
      return wrong("", "a string or an array of content blocks");
  }
  json::Array blocks = content.array();
  json::Value value;
  while (blocks.next(value)) {
    if (parts_left_-- == 0) return wrong("", "of fewer blocks");
    if (Status read = read_block(value, parts, depth); !read) return read;
  }
  return {};
}

Status BlockReader::read_block(const json::Value& value, std::vector<Part>& parts, int depth) {
  Block block;
  bool known = true;
  value.object().each([&](std::string_view key, const json::Value& member) {
    known &= read_member(key, member, block);
  });
  const std::string_view type = block.type.text_or("");
  if (type.empty()) return wrong("[].type", "a string that names the kind of the block");
  const size_t before = parts.size();
  Status read;
  if (type == "text") {
    read = read_text(block, parts);
  } else if (type == "image") {
    read = read_image(block, parts);
  } else if (type == "tool_use") {
    read = read_tool_use(block, parts);
  } else if (type == "tool_result" && depth == 0) {
    read = read_tool_result(block, parts, depth);
  } else if (type == "thinking" || type == "redacted_thinking") {
    read_thinking(block, parts);
  } else if (type == "document" && depth < kNestingMax) {
    read = read_document(block, parts, depth);
  } else if (type == "search_result" && depth < kNestingMax) {
    known = true;
    read = read_search_result(block, parts, depth);
  } else if (type == "tool_reference" && block.tool_name.has_text()) {
    Part& part = add(parts, Part::Kind::kText, block);
    part.text = Text::plain(out_.keep(concat("Tool available: ", block.tool_name.text_or(""))));
  }
  if (!read) return read;
  if (parts.size() == before) {
    Part& part = parts.emplace_back();
    part.kind = Part::Kind::kForeign;
    part.raw = value.raw();
    part.type = out_.keep(std::string(type));
  } else if (!known) {
    note_others(value);
  }
  return {};
}

// A member that the table has may still be none of this type's; that costs nobody anything.
void BlockReader::note_others(const json::Value& value) {
  Block unused;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (!read_member(key, member, unused)) note_nested_field(out_, place_.path, key, member);
  });
}

Part& BlockReader::add(std::vector<Part>& parts, Part::Kind kind, const Block& block) {
  Part& part = parts.emplace_back();
  part.kind = kind;
  part.cache_control = raw_unless_null(block.cache_control);
  return part;
}

Status BlockReader::read_text(const Block& block, std::vector<Part>& parts) {
  if (block.text.kind() != json::Kind::kString) return wrong("[].text", "a string");
  Part& part = add(parts, Part::Kind::kText, block);
  part.text = Text::of(block.text);
  part.citations = raw_citations(block.citations);
  return {};
}

Status BlockReader::read_media(const json::Value& source, Media& media) {
  json::Value type, data, url, file_id, media_type;
  source.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value;
    if (key == "data") data = value;
    if (key == "url") url = value;
    if (key == "file_id") file_id = value;
    if (key == "media_type") media_type = value;
  });
  media.media_type = Text::of(media_type);
  const std::string_view kind = type.text_or("");
  if (kind == "base64" || kind == "text") {
    media.kind = kind == "text" ? Media::Kind::kText : Media::Kind::kBase64;
    media.data = Text::of(data);
    if (!media.data.present()) return wrong("[].source.data", "a string");
  } else if (kind == "url") {
    media.kind = Media::Kind::kUrl;
    media.data = Text::of(url);
    if (!media.data.present()) return wrong("[].source.url", "a string");
  } else if (kind == "file") {
    media.kind = Media::Kind::kFile;
    media.data = Text::of(file_id);
    if (!media.data.present()) return wrong("[].source.file_id", "a string");
  }
  return {};
}

// A source of a kind that is none leaves a foreign part.
Status BlockReader::read_image(const Block& block, std::vector<Part>& parts) {
  Media media;
  if (Status read = read_media(block.source, media); !read) return read;
  if (media.kind == Media::Kind::kNone || media.kind == Media::Kind::kText) return {};
  add(parts, Part::Kind::kImage, block).media = media;
  return {};
}

Status BlockReader::read_document(const Block& block, std::vector<Part>& parts, int depth) {
  Media media;
  if (Status read = read_media(block.source, media); !read) return read;
  const json::Value content = block.source.object().find("content");
  if (media.kind == Media::Kind::kNone && content.is_null()) return {};
  Part document;
  document.kind = Part::Kind::kDocument;
  document.cache_control = raw_unless_null(block.cache_control);
  document.media = media;
  document.name = Text::of(block.title);
  document.context = Text::of(block.context);
  document.citations = raw_citations(block.citations);
  if (media.kind == Media::Kind::kNone)
    return read_document_of_blocks(document, content, parts, depth);
  parts.push_back(std::move(document));
  return {};
}

// A document made of blocks is one of text, and its images follow it.
Status BlockReader::read_document_of_blocks(Part& document, const json::Value& content,
                                            std::vector<Part>& parts, int depth) {
  std::vector<Part> inner;
  if (Status read = read_content(content, inner, depth + 1); !read) return read;
  document.media.kind = Media::Kind::kText;
  document.media.data = joined_text(inner);
  parts.push_back(std::move(document));
  for (Part& part : inner) {
    if (part.kind != Part::Kind::kText) parts.push_back(std::move(part));
  }
  return {};
}

// What a search of the client's own found: a document, which names where it came from.
Status BlockReader::read_search_result(const Block& block, std::vector<Part>& parts, int depth) {
  Part document;
  document.kind = Part::Kind::kDocument;
  document.cache_control = raw_unless_null(block.cache_control);
  document.citations = raw_citations(block.citations);
  const std::string_view source = block.source.text_or("");
  const std::string_view title = block.title.text_or("");
  document.name = Text::plain(out_.keep(
      source.empty() || title.empty() ? concat(title, source) : concat(title, " (", source, ")")));
  return read_document_of_blocks(document, block.content, parts, depth);
}

// One text is itself; several are glued by line ends.
Text BlockReader::joined_text(const std::vector<Part>& parts) {
  const auto is_text = [](const Part& part) { return part.kind == Part::Kind::kText; };
  const auto first = std::find_if(parts.begin(), parts.end(), is_text);
  if (first == parts.end()) return Text::plain("");
  if (std::none_of(first + 1, parts.end(), is_text)) return first->text;
  std::string joined;
  for (const Part& part : parts) {
    if (!is_text(part)) continue;
    if (!joined.empty()) joined += "\\n";
    part.text.append_escaped(joined);
  }
  return Text::escaped(out_.keep(std::move(joined)));
}

Status BlockReader::read_tool_use(const Block& block, std::vector<Part>& parts) {
  if (!block.id.has_text()) return wrong("[].id", "the id of the call, a string");
  if (!block.name.has_text()) return wrong("[].name", "the name of the tool, a string");
  Part& part = add(parts, Part::Kind::kToolCall, block);
  part.call_id = Text::of(block.id);
  part.name = Text::of(block.name);
  if (block.input.kind() == json::Kind::kObject && !block.input.object().empty())
    part.text = Text::plain(block.input.raw());
  // {"type": "direct"} is what a call by the model itself says, and nothing is lost with it.
  const std::string_view caller = block.caller.object().find("type").text_or("direct");
  if (caller != "direct") note_nested_field(out_, place_.path, "caller", block.caller);
  return {};
}

Status BlockReader::read_tool_result(const Block& block, std::vector<Part>& parts, int depth) {
  if (!block.tool_use_id.has_text()) return wrong("[].tool_use_id", "the id of a call, a string");
  Part result;
  result.kind = Part::Kind::kToolResult;
  result.call_id = Text::of(block.tool_use_id);
  result.is_error = block.is_error.boolean().value_or(false);
  result.cache_control = raw_unless_null(block.cache_control);
  if (Status read = read_content(block.content, result.content, depth + 1); !read) return read;
  parts.push_back(std::move(result));
  return {};
}

void BlockReader::read_thinking(const Block& block, std::vector<Part>& parts) {
  Part& part = add(parts, Part::Kind::kReasoning, block);
  part.text = Text::of(block.thinking);
  part.signature = Text::of(block.signature.has_text() ? block.signature : block.data);
}

}  // namespace

void note_nested_field(Request& out, std::string_view where, std::string_view name,
                       const json::Value& value) {
  if (value.is_null()) return;
  const std::string path = concat(where, ".", name);
  size_t nested = 0;
  for (const OtherField& field : out.others) {
    if (field.name == path) return;
    nested += field.name.find('.') != std::string_view::npos ? 1 : 0;
  }
  if (nested < kNestedFieldsMax) out.others.push_back({out.keep(path), value.raw()});
}

Status read_messages_content(const json::Value& content, const ContentPlace& place, Request& out,
                             std::vector<Part>& parts, size_t& parts_left) {
  return BlockReader(place, out, parts_left).read_content(content, parts, 0);
}

}  // namespace hw::translate
