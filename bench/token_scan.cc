#include "token_scan.h"

#include <charconv>

namespace hw::bench {
namespace {

constexpr std::string_view kStamp = "\" T";
constexpr size_t kTailBytes = 64;  // longer than a stamp and than a last event

std::string_view last_event(Dialect dialect) {
  return dialect == Dialect::kChat ? "data: [DONE]" : "event: message_stop";
}

}  // namespace

void TokenScan::reset(Dialect dialect) {
  dialect_ = dialect;
  carried_.clear();
  done_seen_ = false;
}

bool TokenScan::next_token(size_t& from, StampedToken& token) const {
  std::string_view text = carried_;
  for (size_t at = text.find(kStamp, from); at != text.npos; at = text.find(kStamp, at + 1)) {
    size_t end = text.find('"', at + kStamp.size());
    if (end == text.npos) return false;
    token = {};
    const char* stop = text.data() + end;
    auto sent = std::from_chars(text.data() + at + kStamp.size(), stop, token.sent_ns);
    if (sent.ec != std::errc()) continue;
    if (sent.ptr != stop && *sent.ptr == 'R') {
      std::from_chars(sent.ptr + 1, stop, token.received_ns);
    }
    from = end;
    return true;
  }
  return false;
}

void TokenScan::keep_tail(size_t from) {
  done_seen_ = done_seen_ || carried_.find(last_event(dialect_)) != std::string::npos;
  size_t keep_from = carried_.size() > kTailBytes ? carried_.size() - kTailBytes : 0;
  carried_.erase(0, std::max(from, keep_from));
}

}  // namespace hw::bench
