#include "responses/output_reader.h"

#include <string>

#include "neutral/opaque.h"

namespace hw::translate {
namespace {

Delta text_delta(uint32_t block, const Text& text) {
  Delta delta;
  delta.block = block;
  delta.text = text;
  return delta;
}

uint32_t begin(BlockKind kind, OutputSoFar& so_far, Events& out) {
  BlockBegun begun;
  begun.block = so_far.next_block++;
  begun.kind = kind;
  out.push_back(begun);
  return begun.block;
}

void read_text_part(json::Object part, OutputSoFar& so_far, Events& out) {
  Text text;
  json::Value annotations, logprobs;
  part.each([&](std::string_view key, const json::Value& value) {
    if (key == "text") text = Text::of(value);
    if (key == "annotations") annotations = value;
    if (key == "logprobs") logprobs = value;
  });
  const uint32_t block = begin(BlockKind::kText, so_far, out);
  if (!text.empty()) out.push_back(text_delta(block, text));
  read_responses_logprobs(logprobs, block, out);
  read_responses_annotations(annotations.array(), block, out);
  out.push_back(BlockEnded{block});
}

void read_foreign(const json::Value& value, std::string_view type, OutputSoFar& so_far,
                  Events& out) {
  BlockBegun begun;
  begun.block = so_far.next_block++;
  begun.kind = BlockKind::kForeign;
  begun.type = type;
  begun.raw = value.raw();
  out.push_back(begun);
  out.push_back(BlockEnded{begun.block});
}

void read_message(json::Object item, OutputSoFar& so_far, Events& out) {
  item.find("content").array().each([&](const json::Value& value) {
    const std::string_view type = responses_word(out, value.object().find("type"));
    if (type == "output_text") return read_text_part(value.object(), so_far, out);
    if (type != "refusal") return read_foreign(value, type, so_far, out);
    const uint32_t block = begin(BlockKind::kRefusal, so_far, out);
    out.push_back(text_delta(block, Text::of(value.object().find("refusal"))));
    out.push_back(BlockEnded{block});
  });
}

// One text after another; each but the first begins a section.
bool read_sections(json::Array sections, uint32_t block, Events& out) {
  bool first = true;
  sections.each([&](const json::Value& value) {
    const Text text = Text::of(value.object().find("text"));
    if (text.empty()) return;
    Delta delta = text_delta(block, text);
    delta.new_section = !first;
    first = false;
    out.push_back(delta);
  });
  return !first;
}

// A reasoning item that says nothing and proves nothing is no block.
void read_reasoning(json::Object item, OutputSoFar& so_far, Events& out) {
  const size_t size = out.size();
  const uint32_t block = begin(BlockKind::kReasoning, so_far, out);
  if (!read_sections(item.find("summary").array(), block, out))
    read_sections(item.find("content").array(), block, out);
  read_responses_proof(item, block, out);
  if (out.size() == size + 1) {
    out.pop_back();
    --so_far.next_block;
    return;
  }
  out.push_back(BlockEnded{block});
}

void read_call(json::Object item, OutputSoFar& so_far, Events& out) {
  const uint32_t block = so_far.next_block;
  if (!begin_responses_call(item, so_far, out)) return;
  const json::Value arguments = item.find("arguments");
  const Text text = Text::of(arguments.is_null() ? item.find("input") : arguments);
  if (!text.empty()) out.push_back(text_delta(block, text));
  out.push_back(BlockEnded{block});
}

StopReason reason_of(std::string_view status, std::string_view incomplete, bool tool_called) {
  if (status == "incomplete" || !incomplete.empty())
    return incomplete == "content_filter" ? StopReason::kRefusal : StopReason::kLength;
  return tool_called ? StopReason::kToolUse : StopReason::kEnd;
}

}  // namespace

bool begin_responses_call(json::Object item, OutputSoFar& so_far, Events& out) {
  BlockBegun begun;
  std::string_view type;
  item.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value.text_or("");
    if (key == "call_id") begun.call_id = Text::of(value);
    if (key == "name") begun.name = Text::of(value);
    if (key == "id") begun.item_id = Text::of(value);
  });
  if (type != "function_call" && type != "custom_tool_call") return false;
  if (begun.name.empty()) return false;
  if (begun.call_id.empty()) begun.call_id = begun.item_id;
  if (type == "custom_tool_call") begun.tool_kind = ToolKind::kCustom;
  begun.kind = BlockKind::kToolCall;
  begun.block = so_far.next_block++;
  so_far.tool_called = true;
  out.push_back(begun);
  return true;
}

void read_responses_proof(json::Object item, uint32_t block, Events& out) {
  Opaque opaque;
  opaque.kind = OpaqueKind::kEncrypted;
  item.each([&](std::string_view key, const json::Value& value) {
    if (key == "encrypted_content") opaque.content = value.text_or("");
    if (key == "id") opaque.item_id = value.text_or("");
  });
  if (opaque.content.empty()) return;
  Delta delta = text_delta(block, Text::plain(out.keep(seal(opaque))));
  delta.kind = Delta::Kind::kSignature;
  out.push_back(delta);
}

void read_responses_item(const json::Value& item, OutputSoFar& so_far, Events& out) {
  const std::string_view type = responses_word(out, item.object().find("type"));
  if (type == "message") {
    read_message(item.object(), so_far, out);
  } else if (type == "reasoning") {
    read_reasoning(item.object(), so_far, out);
  } else if (type == "function_call" || type == "custom_tool_call") {
    read_call(item.object(), so_far, out);
  } else if (!type.empty()) {
    read_foreign(item, type, so_far, out);
  }
}

void read_responses_end(json::Object response, const OutputSoFar& so_far, Events& out) {
  std::string_view status, incomplete;
  Used used;
  Failed failed;
  response.each([&](std::string_view key, const json::Value& value) {
    if (key == "status") {
      status = responses_word(out, value);
    } else if (key == "incomplete_details") {
      incomplete = responses_word(out, value.object().find("reason"));
    } else if (key == "usage") {
      wire::read_usage(Dialect::kOpenaiResponses, value.object(), used.usage);
    } else if (key == "error" && !value.is_null()) {
      wire::read_error(value, failed.words);
    }
  });
  if (status == "failed" || !failed.words.message.empty()) {
    if (failed.words.message.empty()) failed.words.message = "the response failed";
    name_responses_error(failed.words);
    out.push_back(std::move(failed));
    return;
  }
  Finished finished;
  finished.reason = reason_of(status, incomplete, so_far.tool_called);
  out.push_back(finished);
  if (used.usage.told) out.push_back(used);
}

void name_responses_error(wire::ErrorWords& words) {
  struct Named {
    std::string_view code, type;
  };
  static constexpr Named kNamed[] = {{"rate_limit_exceeded", "rate_limit_error"},
                                     {"insufficient_quota", "insufficient_quota"},
                                     {"context_length_exceeded", "invalid_request_error"},
                                     {"invalid_prompt", "invalid_request_error"}};
  if (!words.type.empty()) return;
  words.type = "server_error";
  for (const Named& named : kNamed) {
    if (words.code == named.code) words.type = named.type;
  }
}

void read_responses_annotations(json::Array annotations, uint32_t block, Events& out) {
  annotations.each([&](const json::Value& value) {
    Delta delta;
    delta.block = block;
    delta.kind = Delta::Kind::kAnnotation;
    delta.raw = value.raw();
    out.push_back(delta);
  });
}

void read_responses_logprobs(const json::Value& logprobs, uint32_t block, Events& out) {
  if (logprobs.array().first().is_null()) return;
  Delta delta;
  delta.block = block;
  delta.kind = Delta::Kind::kLogprobs;
  delta.raw = logprobs.raw();
  out.push_back(delta);
}

std::string_view responses_word(Events& out, const json::Value& value) {
  const std::string_view word = value.text_or("");
  const bool escaped = word.size() + 2 != value.raw().size();
  return escaped && !word.empty() ? out.keep(std::string(word)) : word;
}

}  // namespace hw::translate
