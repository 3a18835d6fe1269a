#include "responses/output.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/writer.h"
#include "neutral/call_id.h"

namespace hw::translate {
namespace {

// Of a request's id that is repeated in ids of items, so that those stay within 64 bytes.
constexpr size_t kIdBytesMax = 40;

std::string_view digits_of(std::string_view request_id) {
  const size_t mark = request_id.find('_');
  if (mark != std::string_view::npos) request_id.remove_prefix(mark + 1);
  return request_id.substr(0, kIdBytesMax);
}

std::string_view or_null(std::string_view number) {
  return number.empty() ? "null" : number;
}

std::string_view id_prefix(OutputItem::Kind kind) {
  switch (kind) {
    case OutputItem::Kind::kMessage:
      return "msg_";
    case OutputItem::Kind::kReasoning:
      return "rs_";
    case OutputItem::Kind::kFunctionCall:
      return "fc_";
    case OutputItem::Kind::kCustomCall:
      return "ctc_";
  }
  return "";
}

std::string_view type_name(OutputItem::Kind kind) {
  switch (kind) {
    case OutputItem::Kind::kMessage:
      return "message";
    case OutputItem::Kind::kReasoning:
      return "reasoning";
    case OutputItem::Kind::kFunctionCall:
      return "function_call";
    case OutputItem::Kind::kCustomCall:
      return "custom_tool_call";
  }
  return "";
}

std::string_view status_name(ItemStatus status) {
  switch (status) {
    case ItemStatus::kInProgress:
      return "in_progress";
    case ItemStatus::kCompleted:
      return "completed";
    case ItemStatus::kIncomplete:
      return "incomplete";
    case ItemStatus::kFailed:
      return "failed";
  }
  return "";
}

// `,"name":"text"`, where `text` stands between quotes already.
void append_escaped_field(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":\"";
  out += text;
  out += '"';
}

void append_count(std::string& out, std::string_view before, int64_t count) {
  out += before;
  append(out, count);
}

void append_error(std::string& out, const wire::SpokenError* error) {
  out += R"(,"error":)";
  if (error == nullptr) {
    out += "null";
    return;
  }
  json::Writer writer(out);
  writer.begin_object();
  writer.field("code", error->code.empty() ? "server_error" : error->code);
  writer.field("message", error->message);
  writer.end_object();
}

}  // namespace

OutputItem& ResponsesOutput::add(OutputItem::Kind kind) {
  OutputItem& item = items_.emplace_back();
  item.kind = kind;
  item.id = id_prefix(kind);
  item.id += digits_of(reply_.request_id);
  item.id += '_';
  append(item.id, items_.size() - 1);
  return item;
}

OutputItem& ResponsesOutput::add_call(const BlockBegun& begun) {
  const ToolNames::Entry* entry = reply_.tools.find(begun.name);
  const ToolKind kind = entry == nullptr ? begun.tool_kind : entry->kind;
  OutputItem& item = add(kind == ToolKind::kCustom ? OutputItem::Kind::kCustomCall
                                                   : OutputItem::Kind::kFunctionCall);
  item.head = R"(,"call_id":)";
  append_id_down(item.head, begun.call_id, Dialect::kOpenaiResponses);
  item.head += R"(,"name":)";
  if (entry == nullptr) {
    begun.name.append_json(item.head);
    return item;
  }
  json::append_quoted(item.head, entry->name);
  if (entry->name_space.empty()) return item;
  item.head += R"(,"namespace":)";
  json::append_quoted(item.head, entry->name_space);
  return item;
}

void ResponsesOutput::append_response(std::string& out, ItemStatus status, StopReason reason,
                                      const wire::SpokenError* error) const {
  out += R"({"id":"resp_)";
  out += digits_of(reply_.request_id);
  append_count(out, R"(","object":"response","created_at":)", reply_.created_s);
  append_escaped_field(out, "status", status_name(status));
  out += R"(,"background":false)";
  append_error(out, error);
  out += R"(,"incomplete_details":)";
  if (status == ItemStatus::kIncomplete) {
    out += reason == StopReason::kRefusal ? R"({"reason":"content_filter"})"
                                          : R"({"reason":"max_output_tokens"})";
  } else {
    out += "null";
  }
  out += R"(,"instructions":null,"max_output_tokens":)";
  out += reply_.max_tokens ? std::to_string(*reply_.max_tokens) : "null";
  out += R"(,"model":)";
  json::append_quoted(out, reply_.model);
  append_items(out);
  out += R"(,"parallel_tool_calls":true,"previous_response_id":null,)"
         R"("reasoning":{"effort":null,"summary":null},"store":false,"temperature":)";
  out += or_null(reply_.temperature);
  out += R"(,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":)";
  out += or_null(reply_.top_p);
  out += R"(,"truncation":"disabled","usage":)";
  if (status == ItemStatus::kInProgress || status == ItemStatus::kFailed) {
    out += "null";
  } else {
    append_usage(out);
  }
  out += R"(,"user":null,"metadata":{}})";
}

void ResponsesOutput::append_items(std::string& out) const {
  out += R"(,"output":[)";
  for (const OutputItem& item : items_) {
    if (&item != items_.data()) out += ',';
    append_item(out, item);
  }
  out += ']';
}

void ResponsesOutput::append_usage(std::string& out) const {
  const wire::Usage usage = usage_.known();
  append_count(out, R"({"input_tokens":)", usage.input);
  append_count(out, R"(,"input_tokens_details":{"cached_tokens":)", usage.cached_input);
  if (usage.cache_creation_input > 0)
    append_count(out, R"(,"cache_write_tokens":)", usage.cache_creation_input);
  append_count(out, R"(},"output_tokens":)", usage.output);
  append_count(out, R"(,"output_tokens_details":{"reasoning_tokens":)", usage.reasoning);
  append_count(out, R"(},"total_tokens":)", usage.input + usage.output);
  out += '}';
}

void ResponsesOutput::append_item(std::string& out, const OutputItem& item) const {
  out += R"({"id":")";
  out += item.id;
  out += '"';
  append_escaped_field(out, "type", type_name(item.kind));
  append_escaped_field(out, "status", status_name(item.status));
  switch (item.kind) {
    case OutputItem::Kind::kMessage:
      out += R"(,"role":"assistant","content":[)";
      for (const OutputPart& part : item.parts) {
        if (&part != item.parts.data()) out += ',';
        append_part(out, part);
      }
      out += ']';
      break;
    case OutputItem::Kind::kReasoning:
      out += R"(,"summary":[)";
      for (const OutputPart& part : item.parts) {
        if (&part != item.parts.data()) out += ',';
        append_summary_part(out, part.text);
      }
      out += ']';
      if (!item.signature.empty() && reply_.encrypted_reasoning)
        append_escaped_field(out, "encrypted_content", item.signature);
      break;
    case OutputItem::Kind::kFunctionCall:
      out += item.head;
      append_escaped_field(out, "arguments", item.text);
      break;
    case OutputItem::Kind::kCustomCall:
      out += item.head;
      append_escaped_field(out, "input", item.text);
      break;
  }
  out += '}';
}

void ResponsesOutput::append_part(std::string& out, const OutputPart& part) const {
  if (part.refusal) {
    out += R"({"type":"refusal")";
    append_escaped_field(out, "refusal", part.text);
    out += '}';
    return;
  }
  out += R"({"type":"output_text")";
  append_escaped_field(out, "text", part.text);
  out += R"(,"annotations":[)";
  out += part.annotations;
  out += R"(],"logprobs":[)";
  out += part.logprobs;
  out += "]}";
}

void append_summary_part(std::string& out, std::string_view text) {
  out += R"({"type":"summary_text")";
  append_escaped_field(out, "text", text);
  out += '}';
}

bool append_url_citation(std::string& out, Raw annotation) {
  json::Document document;
  if (annotation.empty() || !document.open(annotation)) return false;
  json::Object members = document.root();
  if (const json::Value inner = members.find("url_citation"); !inner.is_null())
    members = inner.object();  // as chat nests it
  Text url, title;
  int64_t start = 0, end = 0;
  members.each([&](std::string_view key, const json::Value& value) {
    if (key == "url") url = Text::of(value);
    if (key == "title") title = Text::of(value);
    if (key == "start_index") start = value.integer().value_or(0);
    if (key == "end_index") end = value.integer().value_or(0);
  });
  if (url.empty()) return false;
  append_count(out, R"({"type":"url_citation","start_index":)", start);
  append_count(out, R"(,"end_index":)", end);
  out += R"(,"url":)";
  url.append_json(out);
  out += R"(,"title":)";
  title.append_json(out);
  out += '}';
  return true;
}

}  // namespace hw::translate
