#include "chat/completion.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"
#include "neutral/call_id.h"

namespace hw::translate {
namespace {

std::string_view finish_word(StopReason reason, bool calls) {
  switch (reason) {
    case StopReason::kEnd:
    case StopReason::kToolUse:
      return calls ? "tool_calls" : "stop";
    case StopReason::kLength:
      return "length";
    case StopReason::kStop:
    case StopReason::kPause:
      return "stop";
    case StopReason::kRefusal:
      return "content_filter";
  }
  return "stop";
}

// Where in the text a citation belongs; not told by messages.
Raw place_or_zero(const json::Value& place) {
  return place.integer() ? place.raw() : Raw("0");
}

}  // namespace

void append_completion_usage(std::string& out, const wire::Usage& usage) {
  append(out, R"({"prompt_tokens":)");
  append(out, usage.input);
  append(out, R"(,"completion_tokens":)");
  append(out, usage.output);
  append(out, R"(,"total_tokens":)");
  append(out, usage.input + usage.output);
  append(out, R"(,"prompt_tokens_details":{"cached_tokens":)");
  append(out, usage.cached_input);
  if (usage.cache_creation_input > 0) {
    append(out, R"(,"cache_write_tokens":)");
    append(out, usage.cache_creation_input);
  }
  append(out, R"(},"completion_tokens_details":{"reasoning_tokens":)");
  append(out, usage.reasoning);
  append(out, "}}");
}

void append_completion_head(std::string& out, std::string_view object, const Reply& reply) {
  append(out, R"("id":"chatcmpl-)");
  append(out, reply.request_id.substr(reply.request_id.find('_') + 1));
  append(out, R"(","object":")");
  append(out, object);
  append(out, R"(","created":)");
  append(out, reply.created_s);
  append(out, R"(,"model":)");
  json::append_quoted(out, reply.model);
}

void append_finish(std::string& out, const Finished& finished, bool calls) {
  append(out, R"("finish_reason":")");
  append(out, finish_word(finished.reason, calls));
  append(out, '"');
  if (finished.reason != StopReason::kStop || finished.stop_sequence.empty()) return;
  append(out, R"(,"stop_reason":)");
  finished.stop_sequence.append_json(out);
}

CalledTool::CalledTool(const BlockBegun& call, const ToolNames& tools) : kind(call.tool_kind) {
  const ToolNames::Entry* entry = tools.find(call.name);
  name = entry == nullptr ? call.name.str() : entry->name;
  wrapped = kind == ToolKind::kFunction && entry != nullptr && entry->kind == ToolKind::kCustom;
  if (wrapped) kind = ToolKind::kCustom;
}

void append_call(std::string& out, const BlockBegun& call, const CalledTool& tool,
                 std::string_view arguments) {
  const bool custom = tool.kind == ToolKind::kCustom;
  append(out, R"("id":)");
  append_id_down(out, call.call_id, Dialect::kOpenaiChat);
  append(out, custom ? R"(,"type":"custom","custom":{"name":)"
                     : R"(,"type":"function","function":{"name":)");
  json::append_quoted(out, tool.name);
  append(out, custom ? R"(,"input":")" : R"(,"arguments":")");
  append(out, arguments);
  append(out, R"("})");
}

bool append_annotation(std::string& out, Raw citation) {
  json::Document document;
  if (citation.empty() || !document.open(citation)) return false;
  json::Value url, title, start, end;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "url") url = value;
    if (key == "title") title = value;
    if (key == "start_index") start = value;
    if (key == "end_index") end = value;
  });
  if (!url.has_text()) return false;
  append(out, R"({"type":"url_citation","url_citation":{"start_index":)");
  append(out, place_or_zero(start));
  append(out, R"(,"end_index":)");
  append(out, place_or_zero(end));
  append(out, R"(,"url":)");
  Text::of(url).append_json(out);
  append(out, R"(,"title":)");
  Text::of(title).append_json(out);
  append(out, "}}");
  return true;
}

void append_reasoning_detail(std::string& out, std::string_view ticket, size_t index) {
  append(out, R"({"type":"reasoning.encrypted","data":")");
  append(out, ticket);
  append(out, R"(","index":)");
  append(out, index);
  append(out, '}');
}

void append_extra_content(std::string& out, std::string_view tickets) {
  append(out, R"(,"extra_content":{"google":{"thought_signature":")");
  append(out, tickets);
  append(out, R"("}})");
}

}  // namespace hw::translate
