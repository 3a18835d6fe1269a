#include "wire/generated_text.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace hw::wire {
namespace {

using enum TokenChannel;

// reasoning_details (OpenRouter): pieces with `text` or `summary`; encrypted ones are no text.
size_t details_size(json::Array details) {
  size_t size = 0;
  details.each([&](const json::Value& detail) {
    detail.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text" || key == "summary") size += text_size(value);
    });
  });
  return size;
}

// Sums the `text` members of an array of parts, or takes a plain string.
size_t parts_size(const json::Value& value) {
  size_t size = text_size(value);
  value.array().each(
      [&](const json::Value& part) { size += text_size(part.object().find("text")); });
  return size;
}

// Chat content is a string; Mistral writes an array of text and thinking parts.
void count_content(const json::Value& content, TextCount& count) {
  count.add(kContent, text_size(content));
  content.array().each([&](const json::Value& part) {
    part.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text") count.add(kContent, text_size(value));
      if (key == "thinking") count.add(kReasoning, parts_size(value));
      if (key == "refusal") count.add(kRefusal, text_size(value));
    });
  });
}

// The function or custom tool of a call: its name is generated as well as its arguments.
void count_function(json::Object function, TextCount& count) {
  function.each([&](std::string_view key, const json::Value& value) {
    if (key == "name" || key == "arguments" || key == "input") {
      count.add(kTool, text_size(value));
    }
  });
}

void count_tool_calls(json::Array calls, TextCount& count) {
  calls.each([&](const json::Value& call) {
    call.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "function" || key == "custom") count_function(value.object(), count);
    });
  });
}

void count_output_item(json::Object item, TextCount& count) {
  const bool reasoning = item.find("type").text_or("") == "reasoning";
  item.each([&](std::string_view key, const json::Value& value) {
    if (key == "content") {
      value.array().each([&](const json::Value& part) {
        part.object().each([&](std::string_view name, const json::Value& text) {
          if (name == "text") count.add(reasoning ? kReasoning : kContent, text_size(text));
          if (name == "refusal") count.add(kRefusal, text_size(text));
        });
      });
    } else if (key == "summary") {
      count.add(kReasoning, parts_size(value));
    } else if (key == "arguments" || key == "input") {
      count.add(kTool, text_size(value));
    }
  });
}

}  // namespace

std::string_view token_channel_name(TokenChannel channel) {
  switch (channel) {
    case TokenChannel::kContent:
      return "content";
    case TokenChannel::kReasoning:
      return "reasoning";
    case TokenChannel::kTool:
      return "tool";
    case TokenChannel::kRefusal:
      return "refusal";
  }
  HW_ASSERT(false);
}

TokenChannel TextCount::most_visible() const {
  using enum TokenChannel;
  HW_ASSERT(total() > 0);
  for (const TokenChannel channel : {kContent, kRefusal, kTool}) {
    if (of(channel) > 0) return channel;
  }
  return kReasoning;
}

void count_chat_message(json::Object message, TextCount& count) {
  size_t reasoning = 0;
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "content") {
      count_content(value, count);
    } else if (key == "reasoning_content" || key == "reasoning") {
      reasoning = std::max(reasoning, text_size(value));
    } else if (key == "reasoning_details") {
      reasoning = std::max(reasoning, details_size(value.array()));
    } else if (key == "refusal") {
      count.add(kRefusal, text_size(value));
    } else if (key == "tool_calls") {
      count_tool_calls(value.array(), count);
    } else if (key == "function_call") {
      count_function(value.object(), count);
    } else if (key == "audio") {
      count.add(kContent, text_size(value.object().find("transcript")));
    }
  });
  count.add(kReasoning, reasoning);
}

void count_responses_output(json::Array output, TextCount& count) {
  output.each([&](const json::Value& item) { count_output_item(item.object(), count); });
}

void count_messages_content(json::Array blocks, TextCount& count) {
  blocks.each([&](const json::Value& block) {
    block.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text") {
        count.add(kContent, text_size(value));
      } else if (key == "thinking") {
        count.add(kReasoning, text_size(value));
      } else if (key == "input" && value.kind() == json::Kind::kObject) {
        count.add(kTool, value.raw().size());
      }
    });
  });
}

}  // namespace hw::wire
