#include "http/response_reader.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace hw::http {

Result<ResponseReader::Step> ResponseReader::next(std::string_view& rest, ResponseHead& head) {
  if (state_ == State::kHead) return read_head(rest, head);
  if (state_ == State::kEnd) return Step{Kind::kEnd, {}};
  if (state_ == State::kNone || (state_ == State::kLength && left_ == 0)) {
    state_ = State::kEnd;
    return Step{Kind::kEnd, {}};
  }
  return read_body(rest);
}

Result<ResponseReader::Step> ResponseReader::read_head(std::string_view& rest, ResponseHead& head) {
  for (;;) {
    // A head in one read is parsed where it lies; only a split one is put together.
    std::string_view bytes = rest;
    const size_t kept = head_bytes_.size();
    if (kept > 0) {
      head_bytes_.append(rest);
      bytes = head_bytes_;
    }
    const Result<size_t> size = parse_response_head(bytes, limits_, method_, scanner_, head);
    if (!size) return fail(size.error());
    if (*size == 0) {
      if (kept == 0) head_bytes_.assign(rest);
      rest = {};
      return Step{Kind::kMore, {}};
    }
    rest.remove_prefix(*size - kept);
    head_view_ = kept == 0 ? bytes.substr(0, *size) : std::string_view();
    scanner_.reset();
    if (head.status >= 200) break;
    head_bytes_.clear();
    if (rest.empty()) return Step{Kind::kMore, {}};
  }
  keep_alive_ = head.keep_alive;
  switch (head.framing) {
    case BodyFraming::kNone:
      state_ = State::kNone;
      break;
    case BodyFraming::kLength:
      state_ = State::kLength;
      break;
    case BodyFraming::kChunked:
      state_ = State::kChunked;
      break;
    case BodyFraming::kUntilClose:
      state_ = State::kUntilClose;
      break;
  }
  left_ = head.content_length;
  return Step{Kind::kHead, {}};
}

Result<ResponseReader::Step> ResponseReader::read_body(std::string_view& rest) {
  if (rest.empty()) return Step{Kind::kMore, {}};
  if (state_ == State::kChunked) {
    const Result<ChunkStep> step = chunks_.step(rest);
    if (!step) return fail(step.error());
    rest.remove_prefix(step->consumed);
    if (!step->payload.empty()) return Step{Kind::kBody, step->payload};
    if (!chunks_.done()) return Step{Kind::kMore, {}};
    state_ = State::kEnd;
    return Step{Kind::kEnd, {}};
  }
  std::string_view piece = rest;
  if (state_ == State::kLength) {
    piece = piece.substr(0, static_cast<size_t>(std::min<uint64_t>(left_, piece.size())));
    left_ -= piece.size();
  }
  rest.remove_prefix(piece.size());
  return Step{Kind::kBody, piece};
}

void ResponseReader::keep_head(ResponseHead& head) {
  if (head_view_.empty()) return;
  head_bytes_.assign(std::exchange(head_view_, {}));
  const Result<size_t> again = parse_response_head(head_bytes_, limits_, method_, head);
  HW_ASSERT(again && *again == head_bytes_.size());
}

bool ResponseReader::end_of_input() {
  if (state_ == State::kUntilClose) {
    state_ = State::kEnd;
    keep_alive_ = false;
  }
  return state_ == State::kEnd;
}

}  // namespace hw::http
