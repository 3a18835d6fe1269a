// TokenChannel: the kinds of generated text, and counts of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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
  void add(TokenChannel channel, size_t bytes) { bytes_[static_cast<size_t>(channel)] += bytes; }
  uint64_t of(TokenChannel channel) const { return bytes_[static_cast<size_t>(channel)]; }
  uint64_t total() const { return bytes_[0] + bytes_[1] + bytes_[2] + bytes_[3]; }
  // The most visible channel with text. Precondition: total() > 0.
  TokenChannel most_visible() const;

 private:
  std::array<uint64_t, kTokenChannelCount> bytes_{};
};

}  // namespace hw::wire
