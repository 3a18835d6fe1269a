#include "wire/token_channel.h"

#include "base/assert.h"

namespace hw::wire {

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

}  // namespace hw::wire
