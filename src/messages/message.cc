#include "messages/message.h"

#include <algorithm>

#include "base/text.h"
#include "json/check.h"
#include "json/writer.h"
#include "neutral/call_id.h"
#include "neutral/custom_input.h"

namespace hw::translate {
namespace {

std::string_view stop_word(StopReason reason, bool calls) {
  switch (reason) {
    case StopReason::kEnd:
      return calls ? "tool_use" : "end_turn";
    case StopReason::kLength:
      return "max_tokens";
    case StopReason::kStop:
      return "stop_sequence";
    case StopReason::kToolUse:
      return calls ? "tool_use" : "end_turn";
    case StopReason::kRefusal:
      return "refusal";
    case StopReason::kPause:
      return "pause_turn";
  }
  return "end_turn";
}

}  // namespace

void append_message_usage(std::string& out, const wire::Usage& usage) {
  const int64_t parts = usage.cached_input + usage.cache_creation_input;
  out += R"({"input_tokens":)";
  append(out, std::max<int64_t>(usage.input - parts, 0));
  out += R"(,"cache_creation_input_tokens":)";
  append(out, usage.cache_creation_input);
  out += R"(,"cache_read_input_tokens":)";
  append(out, usage.cached_input);
  out += R"(,"output_tokens":)";
  append(out, usage.output);
  if (usage.reasoning > 0) {
    out += R"(,"output_tokens_details":{"thinking_tokens":)";
    append(out, usage.reasoning);
    out += '}';
  }
  out += '}';
}

void append_message_head(std::string& out, const Reply& reply) {
  out += R"("id":"msg_)";
  out += reply.request_id.substr(reply.request_id.find('_') + 1);
  out += R"(","type":"message","role":"assistant","model":)";
  json::append_quoted(out, reply.model);
}

void append_stop(std::string& out, const Finished& finished, bool calls) {
  out += R"("stop_reason":")";
  out += stop_word(finished.reason, calls);
  out += R"(","stop_sequence":)";
  if (finished.stop_sequence.present()) {
    finished.stop_sequence.append_json(out);
  } else {
    out += "null";
  }
}

void append_call_head(std::string& out, const BlockBegun& call, const Reply& reply) {
  out += R"("id":)";
  append_id_down(out, call.call_id, Dialect::kAnthropicMessages);
  out += R"(,"name":)";
  if (const ToolNames::Entry* entry = reply.tools.find(call.name)) {
    json::append_quoted(out, entry->name);
  } else {
    call.name.append_json(out);
  }
}

bool append_citation(std::string& out, Raw annotation) {
  json::Document document;
  if (annotation.empty() || !document.open(annotation)) return false;
  json::Object object = document.root();
  if (const json::Value inner = object.find("url_citation"); !inner.is_null())
    object = inner.object();  // chat has it one deeper
  const Text url = Text::of(object.find("url"));
  if (url.empty()) return false;
  out += R"({"type":"web_search_result_location","url":)";
  url.append_json(out);
  out += R"(,"title":)";
  Text::of(object.find("title")).append_json(out);
  out += R"(,"encrypted_index":"","cited_text":""})";
  return true;
}

void append_tool_input(std::string& out, ToolKind kind, const Text& arguments) {
  if (kind == ToolKind::kCustom) return append_custom_arguments(out, arguments);
  if (arguments.empty()) {
    out += "{}";
    return;
  }
  const std::string plain = arguments.str();
  if (json::is_json_object(plain)) {
    out += plain;
  } else {
    append_custom_arguments(out, arguments);
  }
}

}  // namespace hw::translate
