#include "wire/generated_text.h"

#include <algorithm>
#include <string_view>

#include "base/assert.h"

namespace hw::wire {
namespace {

using enum TokenChannel;

// The reasoning of one message, which servers repeat under several names: the longest counts.
class Reasoning {
 public:
  void take(std::string_view text) {
    if (text.empty()) return;
    ++names_;
    if (text.size() > size_) text_ = text;
    size_ = std::max(size_, text.size());
  }
  // reasoning_details (OpenRouter): pieces with `text` or `summary`; encrypted ones are no text.
  void take_details(json::Array details) {
    size_t size = 0;
    details.each([&](const json::Value& detail) {
      detail.object().each([&](std::string_view key, const json::Value& value) {
        if (key == "text" || key == "summary") size += value.text_or("").size();
      });
    });
    if (size > 0) names_ += 2;
    size_ = std::max(size_, size);
  }
  void add_to(TextCount& count) const {
    if (names_ == 1) {
      count.add(kReasoning, text_);
    } else if (names_ > 1) {
      count.add_scattered(kReasoning, size_);
    }
  }

 private:
  std::string_view text_;
  size_t size_ = 0;
  int names_ = 0;
};

// Sums the `text` members of an array of parts, or takes a plain string.
size_t parts_size(const json::Value& value) {
  size_t size = value.text_or("").size();
  value.array().each(
      [&](const json::Value& part) { size += part.object().find("text").text_or("").size(); });
  return size;
}

// Chat content is a string; Mistral writes an array of text and thinking parts.
void count_content(const json::Value& content, TextCount& count) {
  count.add(kContent, content.text_or(""));
  content.array().each([&](const json::Value& part) {
    part.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text") count.add(kContent, value.text_or(""));
      if (key == "thinking") count.add_scattered(kReasoning, parts_size(value));
      if (key == "refusal") count.add(kRefusal, value.text_or(""));
    });
  });
}

// The function or custom tool of a call: its name is generated as well as its arguments.
void count_function(json::Object function, TextCount& count) {
  function.each([&](std::string_view key, const json::Value& value) {
    if (key == "name" || key == "arguments" || key == "input") {
      count.add(kTool, value.text_or(""));
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
          if (name == "text") count.add(reasoning ? kReasoning : kContent, text.text_or(""));
          if (name == "refusal") count.add(kRefusal, text.text_or(""));
        });
      });
    } else if (key == "summary") {
      count.add_scattered(kReasoning, parts_size(value));
    } else if (key == "arguments" || key == "input") {
      count.add(kTool, value.text_or(""));
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
  Reasoning reasoning;
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "content") {
      count_content(value, count);
    } else if (key == "reasoning_content" || key == "reasoning") {
      reasoning.take(value.text_or(""));
    } else if (key == "reasoning_details") {
      reasoning.take_details(value.array());
    } else if (key == "refusal") {
      count.add(kRefusal, value.text_or(""));
    } else if (key == "tool_calls") {
      count_tool_calls(value.array(), count);
    } else if (key == "function_call") {
      count_function(value.object(), count);
    } else if (key == "audio") {
      count.add(kContent, value.object().find("transcript").text_or(""));
    }
  });
  reasoning.add_to(count);
}

void count_responses_output(json::Array output, TextCount& count) {
  output.each([&](const json::Value& item) { count_output_item(item.object(), count); });
}

void count_messages_content(json::Array blocks, TextCount& count) {
  blocks.each([&](const json::Value& block) {
    block.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text") {
        count.add(kContent, value.text_or(""));
      } else if (key == "thinking") {
        count.add(kReasoning, value.text_or(""));
      } else if (key == "input" && value.kind() == json::Kind::kObject) {
        count.add_scattered(kTool, value.raw().size());
      }
    });
  });
}

}  // namespace hw::wire
