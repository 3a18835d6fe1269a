#include "json/splice.h"

#include <utility>

#include "base/assert.h"

namespace hw::json {

void Splice::add(size_t offset, size_t removed, std::string inserted) {
  HW_ASSERT(count_ < kEditsMax);
  size_t at = count_;
  while (at > 0 && edits_[at - 1].offset > offset) {
    edits_[at] = std::move(edits_[at - 1]);
    --at;
  }
  HW_ASSERT(at == 0 || edits_[at - 1].offset + edits_[at - 1].removed <= offset);
  HW_ASSERT(at == count_ || offset + removed <= edits_[at + 1].offset);
  edits_[at] = {offset, removed, std::move(inserted)};
  ++count_;
}

void Splice::clear() {
  for (size_t i = 0; i < count_; ++i) edits_[i] = {};
  count_ = 0;
}

size_t Splice::size(size_t document_bytes) const {
  size_t bytes = document_bytes;
  for (size_t i = 0; i < count_; ++i) {
    HW_ASSERT(edits_[i].offset + edits_[i].removed <= document_bytes);
    bytes = bytes - edits_[i].removed + edits_[i].inserted.size();
  }
  return bytes;
}

Segments Splice::segments(std::string_view document) const {
  Segments segments;
  const auto push = [&](std::string_view part) {
    if (!part.empty()) segments.parts[segments.count++] = part;
  };
  size_t at = 0;
  for (size_t i = 0; i < count_; ++i) {
    const Edit& edit = edits_[i];
    HW_ASSERT(edit.offset + edit.removed <= document.size());
    push(document.substr(at, edit.offset - at));
    push(edit.inserted);
    at = edit.offset + edit.removed;
  }
  push(document.substr(at));
  return segments;
}

std::string Splice::apply(std::string_view document) const {
  std::string out;
  out.reserve(size(document.size()));
  for (const std::string_view part : segments(document)) out.append(part);
  return out;
}

}  // namespace hw::json
