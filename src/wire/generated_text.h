// Generated text: the channels that it comes on, and how much of it is in messages, deltas and
// output items.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/scan.h"

namespace hw::wire {

// What kind of text a token event carries. An event with several kinds at once has the most visible
// one: content, then refusal, tool, reasoning.
enum class TokenChannel : uint8_t { kContent, kReasoning, kTool, kRefusal };
inline constexpr int kTokenChannelCount = 4;

// "content", "reasoning", "tool", "refusal".
std::string_view token_channel_name(TokenChannel channel);

// UTF-8 bytes of generated text by channel.
class TextCount {
 public:
  // Adds a piece of text to one channel.
  void add(TokenChannel channel, std::string_view text) {
    bytes_[static_cast<size_t>(channel)] += text.size();
    if (text.empty()) return;
    ++pieces_;
    piece_ = text;
  }
  // Adds text that is not one piece of the JSON.
  void add_scattered(TokenChannel channel, size_t bytes) {
    bytes_[static_cast<size_t>(channel)] += bytes;
    pieces_ += 2;
  }
  // Of one channel.
  uint64_t of(TokenChannel channel) const { return bytes_[static_cast<size_t>(channel)]; }
  // Of all channels.
  uint64_t total() const { return bytes_[0] + bytes_[1] + bytes_[2] + bytes_[3]; }
  // The most visible channel with text. Precondition: total() > 0.
  TokenChannel most_visible() const;
  // The text itself where it is one piece, else empty. Lives as long as the JSON it came from.
  std::string_view only_piece() const { return pieces_ == 1 ? piece_ : std::string_view(); }

 private:
  std::array<uint64_t, kTokenChannelCount> bytes_{};
  size_t pieces_ = 0;
  std::string_view piece_;
};

// A chat message or its delta: content, reasoning (of which servers send the same piece under up to
// three names; counted once), refusal, tool calls, the transcript of audio.
void count_chat_message(json::Object message, TextCount& count);

// The output items of a response: message parts, reasoning texts and summaries, tool arguments.
void count_responses_output(json::Array output, TextCount& count);

// The content blocks of an Anthropic message: text, thinking, tool inputs as JSON.
void count_messages_content(json::Array blocks, TextCount& count);

}  // namespace hw::wire
