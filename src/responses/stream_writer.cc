#include "responses/stream_writer.h"

#include <algorithm>
#include <variant>

#include "base/text.h"

namespace hw::translate {
namespace {

// More blocks than this are not open at once in any answer.
constexpr size_t kLiveMax = 1024;

Text text_between_quotes(const std::string& escaped) {
  return Text::escaped(escaped);
}

void append_text_field(std::string& out, std::string_view name, const Text& text) {
  out += ",\"";
  out += name;
  out += "\":";
  text.append_json(out);
}

}  // namespace

void ResponsesStreamWriter::write(const Event& event, std::string& out) {
  if (failed()) return;
  if (const auto* delta = std::get_if<Delta>(&event)) {
    write_delta(*delta, out);
  } else if (const auto* begun = std::get_if<BlockBegun>(&event)) {
    begin(*begun, out);
  } else if (const auto* ended = std::get_if<BlockEnded>(&event)) {
    end_block(ended->block, out);
  } else if (const auto* started = std::get_if<Started>(&event)) {
    output_.usage().take(started->usage);
    start(out);
  } else if (const auto* used = std::get_if<Used>(&event)) {
    output_.usage().take(used->usage);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    finish(finished->reason, out);
  } else if (const auto* failure = std::get_if<Failed>(&event)) {
    break_off(wire::SpokenError(failure->family, 0, failure->words), out);
  } else if (std::holds_alternative<Ping>(event)) {
    heartbeat(out);
  }
}

void ResponsesStreamWriter::end(std::string& out) {
  if (failed()) return;
  start(out);
  if (status_ == ItemStatus::kInProgress) finish(StopReason::kEnd, out);
  write_response_event(
      out, status_ == ItemStatus::kIncomplete ? "response.incomplete" : "response.completed");
}

void ResponsesStreamWriter::fail(const Error& error, std::string& out) {
  if (!failed()) break_off(wire::SpokenError(error), out);
}

// The SDK takes the object for all that there is so far, so it has the output in it.
void ResponsesStreamWriter::heartbeat(std::string& out) {
  if (!started_) {
    out += ": keep-alive\n\n";
    return;
  }
  events_.repeat_number();  // Codex counts events, and the numbers stay without holes
  write_response_event(out, "response.in_progress");
}

void ResponsesStreamWriter::append_response(std::string& out) const {
  output_.append_response(out, status_, reason_, failure_ ? &*failure_ : nullptr);
}

void ResponsesStreamWriter::start(std::string& out) {
  if (started_) return;
  started_ = true;
  write_response_event(out, "response.created");
  write_response_event(out, "response.in_progress");
}

void ResponsesStreamWriter::finish(StopReason reason, std::string& out) {
  if (status_ != ItemStatus::kInProgress) return;
  while (!live_.empty()) end_block(live_.front().block, out);
  reason_ = reason;
  const bool incomplete = reason == StopReason::kLength || reason == StopReason::kRefusal;
  const ItemStatus status = incomplete ? ItemStatus::kIncomplete : ItemStatus::kCompleted;
  end_message(status, out);
  status_ = status;
}

void ResponsesStreamWriter::break_off(wire::SpokenError error, std::string& out) {
  start(out);
  status_ = ItemStatus::kFailed;
  failure_ = std::move(error);
  write_response_event(out, "response.failed");
}

ResponsesStreamWriter::Live* ResponsesStreamWriter::find(uint32_t block) {
  for (Live& live : live_) {
    if (live.block == block) return &live;
  }
  return nullptr;
}

void ResponsesStreamWriter::begin(const BlockBegun& begun, std::string& out) {
  if (begun.kind == BlockKind::kForeign) {
    fidelity_.meet(Feature::kForeignPart, begun.type);
    return;
  }
  if (live_.size() >= kLiveMax || status_ != ItemStatus::kInProgress) return;
  start(out);
  Live live;
  live.block = begun.block;
  live.kind = begun.kind;
  if (begun.kind == BlockKind::kReasoning) {
    end_message(ItemStatus::kCompleted, out);
    live.item = output_.items().size();
    output_.add(OutputItem::Kind::kReasoning);
    events_.write_item(out, "response.output_item.added", live.item);
  } else if (begun.kind == BlockKind::kToolCall) {
    begin_call(begun, live, out);
  }
  live_.push_back(std::move(live));
}

void ResponsesStreamWriter::begin_call(const BlockBegun& begun, Live& live, std::string& out) {
  end_message(ItemStatus::kCompleted, out);
  live.item = output_.items().size();
  const OutputItem& item = output_.add_call(begun);
  if (item.kind == OutputItem::Kind::kCustomCall && begun.tool_kind == ToolKind::kFunction)
    live.custom = std::make_unique<CustomInput>();
  events_.write_item(out, "response.output_item.added", live.item);
}

// The next part of the open message, or of a new one.
void ResponsesStreamWriter::begin_part(Live& live, std::string& out) {
  if (!message_) {
    message_ = output_.items().size();
    output_.add(OutputItem::Kind::kMessage);
    events_.write_item(out, "response.output_item.added", *message_);
  }
  live.begun = true;
  live.item = *message_;
  OutputItem& item = item_of(live);
  live.part = item.parts.size();
  OutputPart& part = item.parts.emplace_back();
  part.refusal = live.kind == BlockKind::kRefusal;
  begin_part_event(out, "response.content_part.added", live);
  out += ",\"part\":";
  output_.append_part(out, part);
  out += ResponsesEvents::kEnd;
}

void ResponsesStreamWriter::end_block(uint32_t block, std::string& out) {
  Live* live = find(block);
  if (live == nullptr) return;
  end_live(*live, out);
  live_.erase(live_.begin() + (live - live_.data()));
}

void ResponsesStreamWriter::end_live(Live& live, std::string& out) {
  switch (live.kind) {
    case BlockKind::kText:
    case BlockKind::kRefusal:
      if (live.begun) end_part(live, out);
      return;
    case BlockKind::kReasoning:
      end_section(live.item, out);
      return end_item(live.item, ItemStatus::kCompleted, out);
    case BlockKind::kToolCall:
      return end_call(live, out);
    case BlockKind::kForeign:
      return;
  }
}

void ResponsesStreamWriter::end_part(const Live& live, std::string& out) {
  const OutputPart& part = item_of(live).parts[live.part];
  begin_part_event(out, part.refusal ? "response.refusal.done" : "response.output_text.done", live);
  append_text_field(out, part.refusal ? "refusal" : "text", text_between_quotes(part.text));
  if (!part.refusal) {
    out += ",\"logprobs\":[";
    out += part.logprobs;
    out += ']';
  }
  out += ResponsesEvents::kEnd;
  begin_part_event(out, "response.content_part.done", live);
  out += ",\"part\":";
  output_.append_part(out, part);
  out += ResponsesEvents::kEnd;
}

// The last section of a summary, if there is one.
void ResponsesStreamWriter::end_section(size_t item, std::string& out) {
  const std::vector<OutputPart>& parts = output_.items()[item].parts;
  if (parts.empty()) return;
  events_.begin_section(out, "response.reasoning_summary_text.done", item);
  append_text_field(out, "text", text_between_quotes(parts.back().text));
  out += ResponsesEvents::kEnd;
  events_.begin_section(out, "response.reasoning_summary_part.done", item);
  out += ",\"part\":";
  append_summary_part(out, parts.back().text);
  out += ResponsesEvents::kEnd;
}

// A call without arguments has an empty object.
void ResponsesStreamWriter::end_call(Live& live, std::string& out) {
  if (live.custom != nullptr) {
    std::string rest;
    live.custom->end(rest);
    if (!rest.empty()) tell_arguments(live, Text::plain(rest), out);
  }
  const bool function = item_of(live).kind == OutputItem::Kind::kFunctionCall;
  if (function && item_of(live).text.empty()) tell_arguments(live, Text::plain("{}"), out);
  events_.begin_item(
      out,
      function ? "response.function_call_arguments.done" : "response.custom_tool_call_input.done",
      live.item);
  append_text_field(out, function ? "arguments" : "input", text_between_quotes(item_of(live).text));
  out += ResponsesEvents::kEnd;
  end_item(live.item, ItemStatus::kCompleted, out);
}

void ResponsesStreamWriter::end_item(size_t item, ItemStatus status, std::string& out) {
  output_.items()[item].status = status;
  events_.write_item(out, "response.output_item.done", item);
}

// Ends the parts that are still open, and the message.
void ResponsesStreamWriter::end_message(ItemStatus status, std::string& out) {
  if (!message_) return;
  for (size_t i = 0; i < live_.size();) {
    const bool part = live_[i].kind == BlockKind::kText || live_[i].kind == BlockKind::kRefusal;
    if (part && live_[i].begun) {
      end_block(live_[i].block, out);
    } else {
      ++i;
    }
  }
  end_item(*message_, status, out);
  message_.reset();
}

bool ResponsesStreamWriter::has_room(size_t bytes) {
  kept_bytes_ += bytes;
  if (kept_bytes_ <= kKeptBytesMax) return true;
  if (!cut_) fidelity_.mark("output");
  cut_ = true;
  return false;
}

void ResponsesStreamWriter::keep(std::string& kept, const Text& text) {
  if (has_room(text.bytes().size())) text.append_escaped(kept);
}

void ResponsesStreamWriter::keep_element(std::string& list, std::string_view element) {
  if (!has_room(element.size() + 1)) return;
  if (!list.empty()) list += ',';
  list += element;
}

void ResponsesStreamWriter::write_delta(const Delta& delta, std::string& out) {
  Live* live = find(delta.block);
  if (live == nullptr) return;
  const bool text = live->kind == BlockKind::kText;
  switch (delta.kind) {
    case Delta::Kind::kText:
      if (delta.text.empty()) return;
      output_.usage().count(delta.text.bytes().size());
      if (text || live->kind == BlockKind::kRefusal) return write_text(*live, delta.text, out);
      if (live->kind == BlockKind::kReasoning) return write_thinking(*live, delta, out);
      return write_arguments(*live, delta.text, out);
    case Delta::Kind::kSignature:
      if (live->kind == BlockKind::kReasoning) keep(item_of(*live).signature, delta.text);
      return;
    case Delta::Kind::kAnnotation:
      if (text) add_annotation(*live, delta.raw, out);
      return;
    case Delta::Kind::kLogprobs:
      if (text) add_logprobs(*live, delta.raw, out);
      return;
  }
}

void ResponsesStreamWriter::write_text(Live& live, const Text& text, std::string& out) {
  if (!live.begun) begin_part(live, out);
  OutputPart& part = item_of(live).parts[live.part];
  keep(part.text, text);
  begin_part_event(out, part.refusal ? "response.refusal.delta" : "response.output_text.delta",
                   live);
  append_text_field(out, "delta", text);
  if (!part.refusal) out += ",\"logprobs\":[]";
  out += ResponsesEvents::kEnd;
}

void ResponsesStreamWriter::write_thinking(Live& live, const Delta& delta, std::string& out) {
  std::vector<OutputPart>& parts = item_of(live).parts;
  if (parts.empty() || delta.new_section) {
    end_section(live.item, out);
    parts.emplace_back();
    events_.begin_section(out, "response.reasoning_summary_part.added", live.item);
    out += R"(,"part":{"type":"summary_text","text":""}})";
    out += "\n\n";
  }
  keep(parts.back().text, delta.text);
  events_.begin_section(out, "response.reasoning_summary_text.delta", live.item);
  append_text_field(out, "delta", delta.text);
  out += ResponsesEvents::kEnd;
}

void ResponsesStreamWriter::write_arguments(Live& live, const Text& text, std::string& out) {
  if (live.custom == nullptr) return tell_arguments(live, text, out);
  std::string input;
  live.custom->feed(text.str(), input);
  if (!input.empty()) tell_arguments(live, Text::plain(input), out);
}

void ResponsesStreamWriter::tell_arguments(const Live& live, const Text& text, std::string& out) {
  OutputItem& item = item_of(live);
  keep(item.text, text);
  const bool function = item.kind == OutputItem::Kind::kFunctionCall;
  events_.begin_item(
      out,
      function ? "response.function_call_arguments.delta" : "response.custom_tool_call_input.delta",
      live.item);
  append_text_field(out, "delta", text);
  out += ResponsesEvents::kEnd;
}

void ResponsesStreamWriter::add_annotation(Live& live, Raw raw, std::string& out) {
  std::string annotation;
  if (!append_url_citation(annotation, raw)) {
    fidelity_.lose(Feature::kCitations);
    return;
  }
  if (!live.begun) begin_part(live, out);
  OutputPart& part = item_of(live).parts[live.part];
  keep_element(part.annotations, annotation);
  begin_part_event(out, "response.output_text.annotation.added", live);
  out += ",\"annotation_index\":";
  append(out, part.annotation_count++);
  out += ",\"annotation\":";
  out += annotation;
  out += ResponsesEvents::kEnd;
}

// Told with the text's end: they come behind the delta that they belong to.
void ResponsesStreamWriter::add_logprobs(Live& live, Raw raw, std::string& out) {
  if (raw.size() <= 2) return;
  if (!live.begun) begin_part(live, out);
  OutputPart& part = item_of(live).parts[live.part];
  const std::string_view elements = raw.substr(1, raw.size() - 2);
  if (elements.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  keep_element(part.logprobs, elements);
}

void ResponsesStreamWriter::begin_part_event(std::string& out, std::string_view type,
                                             const Live& live) {
  events_.begin_part(out, type, live.item, live.part);
}

void ResponsesStreamWriter::write_response_event(std::string& out, std::string_view type) {
  events_.begin(out, type);
  out += ",\"response\":";
  append_response(out);
  out += ResponsesEvents::kEnd;
}

std::unique_ptr<StreamWriter> make_responses_stream_writer(const Reply& reply, Fidelity& fidelity) {
  return std::make_unique<ResponsesStreamWriter>(reply, fidelity);
}

}  // namespace hw::translate
