#include "engine/output_text.h"

#include <algorithm>
#include <utility>

namespace hw::engine {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What a string of bytes begins with.
struct Character {
  size_t size = 0;  // bytes; 0: the start of a character whose rest is not there yet
  bool valid = false;
};

// The well-formed sequences of the Unicode standard, table 3-7. An invalid start is as long as the
// part that could have become a character, at least one byte.
Character first_character(std::string_view bytes) {
  const auto at = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80, high = 0xBF;  // of the second byte
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (size_t i = 1; i < size; ++i) {
    if (i == bytes.size()) return {0, false};
    if (at(i) < low || at(i) > high) return {i, false};
    low = 0x80, high = 0xBF;
  }
  return {size, true};
}

// Bytes at the end of `text` that `stop` may begin with, without being all of it.
size_t overlap(std::string_view text, std::string_view stop) {
  for (size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) return size;
  }
  return 0;
}

// Where the stop string begins that is complete first, of those the longest; npos: none is. By its
// end, not by its begin: then the answer does not depend on how tokens cut the text.
size_t find_stop(std::string_view text, const std::vector<std::string>& stops) {
  size_t begin = std::string::npos;
  size_t end = std::string::npos;
  for (const std::string& stop : stops) {
    const size_t at = text.find(stop);
    if (at == std::string::npos) continue;
    if (at + stop.size() < end || (at + stop.size() == end && at < begin)) {
      begin = at, end = at + stop.size();
    }
  }
  return begin;
}

}  // namespace

std::string OutputText::push(std::string_view bytes) {
  if (stopped_) return {};
  bytes_.append(bytes);
  decode();
  return take_certain();
}

std::string OutputText::flush() {
  if (stopped_) return {};
  if (!std::exchange(bytes_, {}).empty()) held_.append(kReplacement);
  std::string text = take_certain();
  if (!stopped_) text.append(std::exchange(held_, {}));
  return text;
}

// Moves whole characters from bytes_ to held_.
void OutputText::decode() {
  size_t done = 0;
  while (done < bytes_.size()) {
    const std::string_view rest = std::string_view(bytes_).substr(done);
    const Character character = first_character(rest);
    if (character.size == 0) break;
    held_.append(character.valid ? rest.substr(0, character.size) : kReplacement);
    done += character.size;
  }
  bytes_.erase(0, done);
}

// Takes from held_ what can no longer become part of a stop string.
std::string OutputText::take_certain() {
  if (const size_t stop_at = find_stop(held_, stop_); stop_at != std::string::npos) {
    stopped_ = true;
    return std::exchange(held_, {}).substr(0, stop_at);
  }
  size_t keep = 0;
  for (const std::string& stop : stop_) keep = std::max(keep, overlap(held_, stop));
  std::string certain = held_.substr(0, held_.size() - keep);
  held_.erase(0, certain.size());
  return certain;
}

}  // namespace hw::engine
