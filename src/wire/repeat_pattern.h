// RepeatPattern: knows an event again that differs from an earlier one in its text only, as nearly
// all events of a stream do, so that it need not be parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/sse.h"
#include "json/utf8.h"
#include "wire/generated_text.h"

namespace hw::wire {

// Holds one event but for the content of one JSON string in it. What has the same bytes around that
// string, and in it nothing that JSON escapes, is the same JSON with another text: the result of
// parsing it is known, exactly.
class RepeatPattern {
 public:
  // Longer events are not kept.
  static constexpr size_t kBytesMax = 1024;

  // Keeps `event`, whose only text is `text`, a view into its data. Does nothing where it is not
  // (an unescaped copy), and seldom anything after a series of events that no pattern fitted.
  void learn(const http::SseEvent& event, std::string_view text, TokenChannel channel) {
    const size_t offset = static_cast<size_t>(text.data() - event.data.data());
    if (offset >= event.data.size() || offset + text.size() > event.data.size()) return;
    if (event.type.size() + event.data.size() > kBytesMax) return;
    ++learned_in_vain_;
    if (learned_in_vain_ > kInVainMax && learned_in_vain_ % kInVainMax != 0) return;
    bytes_.clear();
    bytes_.reserve(event.type.size() + event.data.size() - text.size());
    bytes_.append(event.type);
    bytes_.append(event.data.substr(0, offset));
    bytes_.append(event.data.substr(offset + text.size()));
    type_size_ = static_cast<uint16_t>(event.type.size());
    before_size_ = static_cast<uint16_t>(offset);
    channel_ = channel;
  }

  // The size of the text of `event` where it fits, else 0.
  size_t match(const http::SseEvent& event) {
    const std::string_view all = bytes_;
    const std::string_view before = all.substr(type_size_, before_size_);
    const std::string_view behind = all.substr(type_size_ + before_size_);
    if (behind.empty() || event.data.size() <= before.size() + behind.size()) return 0;
    if (!event.data.ends_with(behind) || !event.data.starts_with(before)) return 0;
    if (event.type != all.substr(0, type_size_)) return 0;
    const size_t size = event.data.size() - before.size() - behind.size();
    if (!is_plain(event.data.substr(before.size(), size))) return 0;
    learned_in_vain_ = 0;
    return size;
  }

  // Where in their data the text of those that fit begins.
  size_t text_offset() const { return before_size_; }
  // Of the text of those that fit.
  TokenChannel channel() const { return channel_; }

 private:
  static constexpr uint32_t kInVainMax = 8;

  // Whether these bytes mean themselves between the quotes of a JSON string.
  static bool is_plain(std::string_view text) {
    bool ascii = true;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == '"' || byte == '\\') return false;
      ascii &= byte < 0x80;
    }
    return ascii || json::valid_utf8_prefix(text) == text.size();
  }

  std::string bytes_;  // the event's type, then its data before and behind the text
  uint16_t type_size_ = 0;
  uint16_t before_size_ = 0;
  TokenChannel channel_ = TokenChannel::kContent;
  uint32_t learned_in_vain_ = 0;
};

}  // namespace hw::wire
