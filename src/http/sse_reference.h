// The standard's algorithm over a whole event stream, character by character (WHATWG HTML §9.2.6):
// what tests and the fuzz target hold the scanner against.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hw::http {

// One event as the standard dispatches it.
struct ReferenceEvent {
  std::string type;
  std::string data;
  size_t end = 0;  // offset behind its blank line
  bool operator==(const ReferenceEvent&) const = default;
};

// All events of a stream; what its end cuts short is none.
inline std::vector<ReferenceEvent> reference_events(std::string_view bytes) {
  std::vector<ReferenceEvent> events;
  std::string line, data, type;
  bool has_data = false;
  size_t at = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (at < bytes.size()) {
    const char c = bytes[at++];
    if (c != '\r' && c != '\n') {
      line += c;
      continue;
    }
    if (c == '\r' && at < bytes.size() && bytes[at] == '\n') ++at;
    if (line.empty()) {
      if (has_data) events.push_back({type, data.substr(0, data.size() - 1), at});
      data.clear();
      type.clear();
      has_data = false;
      continue;
    }
    const size_t colon = std::min(line.find(':'), line.size());
    const std::string name = line.substr(0, colon);
    std::string value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(" ")) value.erase(0, 1);
    if (name == "data") {
      data += value + "\n";
      has_data = true;
    } else if (name == "event") {
      type = value;
    }
    line.clear();
  }
  return events;
}

}  // namespace hw::http
