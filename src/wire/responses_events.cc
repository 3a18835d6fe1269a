// Reads the events of OpenAI's responses.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "json/writer.h"
#include "wire/generated_text.h"
#include "wire/stream_state.h"

namespace hw::wire {
namespace {

// A response object up to this size is kept whole; it then weighs no more than the connection's
// other buffers. Codex' own are 50 KB, nearly all of it tools and instructions.
constexpr size_t kKeptBytesMax = 2048;
// Members longer than this are emptied in a response object that is not kept whole.
constexpr size_t kMemberBytesMax = 256;

struct DeltaType {
  std::string_view type;
  TokenChannel channel;
};

// Events whose `delta` is generated text.
constexpr std::array kDeltaTypes = {
    DeltaType{"response.output_text.delta", TokenChannel::kContent},
    DeltaType{"response.function_call_arguments.delta", TokenChannel::kTool},
    DeltaType{"response.reasoning_summary_text.delta", TokenChannel::kReasoning},
    DeltaType{"response.reasoning_text.delta", TokenChannel::kReasoning},
    DeltaType{"response.custom_tool_call_input.delta", TokenChannel::kTool},
    DeltaType{"response.refusal.delta", TokenChannel::kRefusal},
    DeltaType{"response.audio.transcript.delta", TokenChannel::kContent},
    DeltaType{"response.mcp_call_arguments.delta", TokenChannel::kTool},
    DeltaType{"response.code_interpreter_call_code.delta", TokenChannel::kTool},
};

std::optional<TokenChannel> delta_channel(std::string_view type) {
  for (const DeltaType& known : kDeltaTypes) {
    if (known.type == type) return known.channel;
  }
  return std::nullopt;
}

bool is_terminal(std::string_view type) {
  return type == "response.completed" || type == "response.incomplete" || type == "response.failed";
}

// What stands for a member that is too long to keep, of the same kind.
std::string_view emptied(json::Kind kind) {
  switch (kind) {
    case json::Kind::kArray:
      return "[]";
    case json::Kind::kObject:
      return "{}";
    case json::Kind::kNull:
    case json::Kind::kBool:
    case json::Kind::kNumber:
    case json::Kind::kString:
      return "null";
  }
  return "null";
}

// Which members of a long object come first, so that the rest goes where the room ends.
bool essential(std::string_view key) {
  return key == "id" || key == "object" || key == "created_at" || key == "status" ||
         key == "model" || key == "output";
}

// A copy of a long response object with its long members emptied, about kKeptBytesMax at most.
std::string shortened(json::Object response) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  for (const bool first_round : {true, false}) {
    json::Object members = response;
    members.each([&](std::string_view key, const json::Value& value) {
      if (essential(key) != first_round || key.size() > kMemberBytesMax) return;
      const std::string_view raw = value.raw();
      const std::string_view kept = raw.size() > kMemberBytesMax ? emptied(value.kind()) : raw;
      if (!kept.empty() && out.size() + key.size() + kept.size() < kKeptBytesMax) {
        writer.field_raw(key, kept);
      }
    });
  }
  writer.end_object();
  return out;
}

// Keeps the object for heartbeats and error events. A line break in it (between tokens, as events
// of several data lines have) would break the line it will stand in.
void keep_response(const json::Value& response, StreamState& state) {
  const std::string_view raw = response.raw();
  state.response_object =
      raw.size() <= kKeptBytesMax ? std::string(raw) : shortened(response.object());
  std::replace_if(
      state.response_object.begin(), state.response_object.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

// The response object of a final event: status, usage, and why it failed or was cut.
void read_final(std::string_view type, json::Object response, StreamState& state) {
  keep(state.finish_reason, type.substr(type.rfind('.') + 1), kWordBytesMax);
  response.each([&](std::string_view key, const json::Value& value) {
    if (key == "usage") {
      read_usage(Dialect::kOpenaiResponses, value.object(), state.usage);
    } else if (key == "error") {
      if (!value.is_null()) read_error(value, state.error_words);
    } else if (key == "incomplete_details") {
      const json::Value reason = value.object().find("reason");
      if (reason.has_text()) keep(state.finish_reason, reason.text_or(""), kWordBytesMax);
    } else {
      read_engine_member(key, value, state.engine);
    }
  });
}

}  // namespace

void read_responses_event(std::string_view type, json::Document& document, StreamState& state,
                          EventReading& reading) {
  json::Value response, delta, error;
  reading.only_text = false;  // they are numbered
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      type = value.text_or(type);
    } else if (key == "response") {
      response = value;
    } else if (key == "delta") {
      delta = value;
    } else if (key == "sequence_number") {
      state.sequence_number = std::max(state.sequence_number, value.integer().value_or(-1));
    } else if (key == "error") {
      error = value;
    } else {
      read_engine_member(key, value, state.engine);
    }
  });
  if (type == "response.output_item.added") state.output_begun = true;
  if (const auto channel = delta_channel(type)) {
    reading.text.add(*channel, delta.text_or(""));
    return;
  }
  if (type == "error") {
    reading.error = true;
    if (error.is_null()) {
      read_error(document.root(), state.error_words);
      state.error_words.type.clear();  // it was the event's: "error"
    } else {
      read_error(error, state.error_words);
    }
    return;
  }
  if (response.kind() != json::Kind::kObject) {
    reading.terminal = is_terminal(type);
    reading.error = type == "response.failed";
    return;
  }
  if (state.id.empty()) keep(state.id, response.object().find("id").text_or(""), kIdBytesMax);
  if (is_terminal(type)) {
    reading.terminal = true;
    reading.error = type == "response.failed";
    read_final(type, response.object(), state);
  } else if (state.response_object.empty()) {
    keep_response(response, state);
  }
}

}  // namespace hw::wire
