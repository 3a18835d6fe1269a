#include "edge/event_gate.h"

#include <algorithm>

namespace hw::edge {
namespace {

// One line of an event stream with its end: LF, CR or both.
std::string_view take_line(std::string_view& text) {
  size_t end = text.find_first_of("\r\n");
  end = end == text.npos ? text.size() : end + 1;
  if (end < text.size() && text[end - 1] == '\r' && text[end] == '\n') ++end;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

bool is_blank(std::string_view line) {
  return line.empty() || line[0] == '\r' || line[0] == '\n';
}

}  // namespace

bool EventGate::hides(std::span<const wire::EventFacts> events) const {
  return hide_ == Hide::kUsageChunks &&
         std::any_of(events.begin(), events.end(),
                     [](const wire::EventFacts& event) { return event.usage_only; });
}

std::string_view EventGate::feed(std::string_view bytes, std::span<const wire::EventFacts> events,
                                 std::string& scratch) {
  const size_t tail = events.empty() ? 0 : events.back().end;
  if (held_.empty() && !hides(events)) {
    if (!events.empty()) place_ = Place::kLineStart;
    const size_t passed = tail + take_tail(bytes.substr(tail));
    if (!give_up_holding()) return bytes.substr(0, passed);
    held_.clear();
    return bytes;
  }
  scratch.clear();
  size_t from = 0;
  for (const wire::EventFacts& event : events) {
    held_.append(bytes.substr(from, event.end - from));
    from = event.end;
    if (hide_ == Hide::kUsageChunks && event.usage_only && place_ != Place::kPassing) {
      relay_without_event(scratch);
      ++hidden_;
    } else {
      scratch += held_;
    }
    held_.clear();
    place_ = Place::kLineStart;
  }
  const size_t passed = take_tail(bytes.substr(from));
  scratch += bytes.substr(from, passed);
  if (give_up_holding()) {
    scratch += held_;
    held_.clear();
  }
  return scratch;
}

// Goes through the bytes behind the last complete event and keeps those of the next one. Gives how
// many pass at once: they come before those that are held.
size_t EventGate::take_tail(std::string_view tail) {
  size_t at = 0;
  while (at < tail.size()) {
    switch (place_) {
      case Place::kPassing:
        return tail.size();
      case Place::kHolding:
        held_.append(tail.substr(at));
        return at;
      case Place::kComment: {
        const size_t end = tail.find_first_of("\r\n", at);
        if (end == tail.npos) return tail.size();
        at = end + 1;
        place_ = Place::kLineStart;
        break;
      }
      case Place::kLineStart:
        if (is_blank(tail.substr(at))) {
          ++at;
        } else {
          place_ = tail[at] == ':' ? Place::kComment : Place::kHolding;
        }
        break;
    }
  }
  return at;
}

// The event is too long to hold: from here on it passes. True where that is so now.
bool EventGate::give_up_holding() {
  if (held_.size() <= kHeldBytesMax) return false;
  place_ = Place::kPassing;
  return true;
}

// Relays what is held but for the event at its end: blocks before it that dispatched nothing, and
// comments in its own block.
void EventGate::relay_without_event(std::string& out) {
  std::string_view rest = held_;
  std::string_view block = rest;
  std::string comments;
  if (place_ == Place::kComment) {
    comments += take_line(rest);  // its beginning was relayed
  }
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line[0] == ':') comments += line;
    if (!is_blank(line)) continue;
    if (rest.empty()) {
      out += comments;
      if (!comments.empty()) out += line;
    } else {
      out += block.substr(0, block.size() - rest.size());
      block = rest;
      comments.clear();
    }
  }
}

}  // namespace hw::edge
