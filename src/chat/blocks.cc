#include "chat/blocks.h"

#include <utility>

#include "base/text.h"
#include "json/check.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

// function_call, which has no index.
constexpr int64_t kLegacyIndex = -1;

// The members of a message or a delta.
struct Members {
  json::Value content, reasoning_content, reasoning, reasoning_details, refusal, annotations,
      tool_calls, function_call;
};

Members members_of(json::Object message) {
  Members members;
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "content")
      members.content = value;
    else if (key == "reasoning_content")
      members.reasoning_content = value;
    else if (key == "reasoning")
      members.reasoning = value;
    else if (key == "reasoning_details")
      members.reasoning_details = value;
    else if (key == "tool_calls")
      members.tool_calls = value;
    else if (key == "refusal")
      members.refusal = value;
    else if (key == "annotations")
      members.annotations = value;
    else if (key == "function_call")
      members.function_call = value;
  });
  return members;
}

// The reason in our words; what is not known is an end like any other.
StopReason stop_reason(std::string_view finish_reason, bool calls, bool stopped) {
  if (finish_reason == "length") return StopReason::kLength;
  if (finish_reason == "content_filter") return StopReason::kRefusal;
  if (calls || finish_reason == "tool_calls" || finish_reason == "function_call")
    return StopReason::kToolUse;
  return stopped ? StopReason::kStop : StopReason::kEnd;
}

// The value where every byte of it is JSON: what is read of a stream is not looked at as a whole.
Raw checked(const json::Value& value) {
  const Raw raw = value.raw();
  return json::is_json_object(concat(R"({"a":)", raw, "}")) ? raw : Raw();
}

Text kept(const std::string& text, Events& out) {
  return Text::plain(out.keep(text));
}

}  // namespace

// What one element of `tool_calls` says.
struct ChatBlocks::CallPiece {
  std::optional<int64_t> index;
  ToolKind tool_kind = ToolKind::kFunction;
  Text id, name, arguments;

  void read_function(json::Object function) {
    function.each([&](std::string_view key, const json::Value& value) {
      if (key == "name") name = Text::of(value);
      if (key != "arguments" && key != "input") return;
      arguments = value.kind() == json::Kind::kObject ? Text::plain(value.raw()) : Text::of(value);
    });
  }
};

void ChatBlocks::read_message(json::Object message, Events& out) {
  const Members members = members_of(message);
  only_text_ = members.reasoning_details.is_null() && members.tool_calls.is_null() &&
               members.function_call.is_null();
  const json::Value& thought =
      members.reasoning_content.has_text() ? members.reasoning_content : members.reasoning;
  if (thought.has_text()) say(BlockKind::kReasoning, Text::of(thought), out);
  if (!members.reasoning_details.is_null())
    read_details(members.reasoning_details, !thought.has_text(), out);
  read_content(members.content, out);
  if (members.refusal.has_text()) say(BlockKind::kRefusal, Text::of(members.refusal), out);
  read_annotations(members.annotations.array(), out);
  read_calls(members.tool_calls.array(), out);
  if (!members.function_call.is_null()) read_function_call(members.function_call.object(), out);
}

// A string; Mistral writes an array of text and thinking parts.
void ChatBlocks::read_content(const json::Value& content, Events& out) {
  if (content.has_text()) return say(BlockKind::kText, Text::of(content), out);
  content.array().each([&](const json::Value& part) {
    part.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text" && value.has_text()) say(BlockKind::kText, Text::of(value), out);
      if (key == "refusal" && value.has_text()) say(BlockKind::kRefusal, Text::of(value), out);
      if (key != "thinking") return;
      if (value.has_text()) say(BlockKind::kReasoning, Text::of(value), out);
      value.array().each([&](const json::Value& piece) {
        const json::Value text = piece.object().find("text");
        if (text.has_text()) say(BlockKind::kReasoning, Text::of(text), out);
      });
    });
  });
}

// They are kept for the way back; their text counts only where no other member says it.
void ChatBlocks::read_details(const json::Value& details, bool with_text, Events& out) {
  bool any = false;
  details.array().each([&](const json::Value& detail) {
    any = true;
    if (!with_text) return;
    detail.object().each([&](std::string_view key, const json::Value& value) {
      if ((key == "text" || key == "summary") && value.has_text())
        say(BlockKind::kReasoning, Text::of(value), out);
    });
  });
  if (!any) return;
  open(BlockKind::kReasoning, out);
  details_.take(details.array());
}

void ChatBlocks::read_annotations(json::Array annotations, Events& out) {
  annotations.each([&](const json::Value& annotation) {
    Delta delta;
    delta.kind = Delta::Kind::kAnnotation;
    delta.raw = checked(annotation);
    if (delta.raw.empty()) return;
    open(BlockKind::kText, out);
    delta.block = flow_block_;
    out.emplace_back(delta);
  });
}

void ChatBlocks::read_logprobs(json::Object logprobs, Events& out) {
  const json::Value content = logprobs.find("content");
  if (content.array().count() == 0 || !flowing_ || flow_ != BlockKind::kText) return;
  Delta delta;
  delta.block = flow_block_;
  delta.kind = Delta::Kind::kLogprobs;
  delta.raw = checked(content);
  if (!delta.raw.empty()) out.emplace_back(delta);
}

void ChatBlocks::say(BlockKind kind, const Text& text, Events& out) {
  open(kind, out);
  Delta delta;
  delta.block = flow_block_;
  delta.text = text;
  out.emplace_back(delta);
}

void ChatBlocks::open(BlockKind kind, Events& out) {
  if (flowing_ && flow_ == kind) return;
  close(out);
  end_calls(true, out);
  flowing_ = true;
  flow_ = kind;
  flow_block_ = next_block_++;
  BlockBegun begun;
  begun.block = flow_block_;
  begun.kind = kind;
  out.emplace_back(begun);
}

// Thinking ends with what proves it to its maker.
void ChatBlocks::close(Events& out) {
  static const std::string kUnsigned = seal(Opaque());
  if (!flowing_) return;
  flowing_ = false;
  if (flow_ == BlockKind::kReasoning) {
    Delta delta;
    delta.block = flow_block_;
    delta.kind = Delta::Kind::kSignature;
    delta.text = Text::plain(kUnsigned);
    if (!details_.empty()) {
      Opaque opaque;
      opaque.kind = OpaqueKind::kDetails;
      opaque.content = details_.take_json();
      delta.text = Text::plain(out.keep(seal(opaque)));
    }
    out.emplace_back(delta);
  }
  BlockEnded ended;
  ended.block = flow_block_;
  out.emplace_back(ended);
}

void ChatBlocks::read_calls(json::Array calls, Events& out) {
  calls.each([&](const json::Value& value) {
    CallPiece piece;
    value.object().each([&](std::string_view key, const json::Value& member) {
      if (key == "index") piece.index = member.integer();
      if (key == "id") piece.id = Text::of(member);
      if (key == "function") piece.read_function(member.object());
      if (key != "custom") return;
      piece.tool_kind = ToolKind::kCustom;
      piece.read_function(member.object());
    });
    if (Call* call = call_of(piece)) take_piece(*call, piece, out);
  });
}

void ChatBlocks::read_function_call(json::Object function, Events& out) {
  CallPiece piece;
  piece.index = kLegacyIndex;
  piece.read_function(function);
  if (Call* call = call_of(piece)) take_piece(*call, piece, out);
}

// The call that a piece belongs to, a new one where it begins one: an index that is new, or another
// id and a name under an old index, since some servers give all calls the same. Null for a piece of
// a call that is over, and where there are too many.
ChatBlocks::Call* ChatBlocks::call_of(const CallPiece& piece) {
  Call* found = nullptr;
  for (Call& call : calls_) {
    if (!piece.index || call.index == *piece.index) found = &call;
  }
  const bool other_id = found != nullptr && !piece.id.empty() && !piece.id.is(found->id);
  const bool begins = !piece.name.empty() && (other_id || !piece.index);
  if (found != nullptr && !(begins && found->begun)) return found->ended ? nullptr : found;
  if (calls_.size() == kCallsMax) return nullptr;
  Call& call = calls_.emplace_back();
  call.index = piece.index.value_or(static_cast<int64_t>(calls_.size()) - 1);
  call.tool_kind = piece.tool_kind;
  return &call;
}

void ChatBlocks::take_piece(Call& call, const CallPiece& piece, Events& out) {
  if (call.id.empty()) call.id = piece.id.str();
  if (!call.begun) {
    if (piece.name.empty()) {
      if (call.held.size() < kHeldBytesMax) piece.arguments.append_plain(call.held);
      return;
    }
    begin_call(call, piece.name, out);
  }
  if (!piece.arguments.empty()) say_arguments(call, piece.arguments, out);
}

void ChatBlocks::begin_call(Call& call, const Text& name, Events& out) {
  close(out);
  end_calls(false, out);
  if (call.id.empty()) call.id = concat("call_", id_, "_", next_block_);
  call.begun = true;
  call.block = next_block_++;
  BlockBegun begun;
  begun.block = call.block;
  begun.kind = BlockKind::kToolCall;
  begun.tool_kind = call.tool_kind;
  begun.call_id = kept(call.id, out);
  begun.name = name;
  out.emplace_back(begun);
  if (call.held.empty()) return;
  say_arguments(call, kept(call.held, out), out);
  release(call.held);
}

void ChatBlocks::say_arguments(Call& call, const Text& text, Events& out) {
  const bool as_is = text.bytes().find('\\') == std::string_view::npos;
  call.progress.feed(as_is ? text.bytes() : std::string_view(text.str()));
  Delta delta;
  delta.block = call.block;
  delta.text = text;
  out.emplace_back(delta);
}

void ChatBlocks::end_calls(bool also_incomplete, Events& out) {
  for (Call& call : calls_) {
    if (!call.begun || call.ended || !(also_incomplete || call.progress.complete())) continue;
    call.ended = true;
    BlockEnded ended;
    ended.block = call.block;
    out.emplace_back(ended);
  }
}

void ChatBlocks::finish(std::string_view finish_reason, const json::Value& stop, Events& out) {
  close(out);
  end_calls(true, out);
  bool calls = false;
  for (const Call& call : calls_) calls |= call.begun;
  Finished finished;
  finished.reason = stop_reason(finish_reason, calls, stop.has_text());
  if (finished.reason == StopReason::kStop) finished.stop_sequence = Text::of(stop);
  out.emplace_back(finished);
}

}  // namespace hw::translate
