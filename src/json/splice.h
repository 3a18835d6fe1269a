// Changes a few byte ranges of a document and leaves every other byte as it was.
//
// A Splice holds only the edits; the document stays in its buffer and is written as a list of
// segments (for a gathering write), so that a large body is never copied.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "json/scan.h"

namespace hw::json {

// Edits of one document: model, stream_options and two to spare.
inline constexpr size_t kEditsMax = 4;

// Replaces `removed` bytes at `offset` of the document by `inserted`.
struct Edit {
  size_t offset = 0;
  size_t removed = 0;
  std::string inserted;
};

// The edited document as pieces in order; none is empty. Views into the document and into the
// Splice.
struct Segments {
  std::array<std::string_view, 2 * kEditsMax + 1> parts;
  size_t count = 0;

  // The pieces that are used.
  const std::string_view* begin() const { return parts.data(); }
  const std::string_view* end() const { return parts.data() + count; }
};

// Up to kEditsMax edits of one document, kept sorted. Edits must not overlap (our bug if they do);
// insertions at the same place come out in the order they were added.
class Splice {
 public:
  // Adds one edit. Precondition: fewer than kEditsMax so far.
  void add(size_t offset, size_t removed, std::string inserted);
  void replace(Range range, std::string inserted) {
    add(range.offset, range.length, std::move(inserted));
  }
  void insert(size_t offset, std::string inserted) { add(offset, 0, std::move(inserted)); }
  void remove(Range range) { add(range.offset, range.length, {}); }

  // How many edits there are.
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  // Forgets every edit.
  void clear();

  // Bytes of a document of `document_bytes` after the edits. Precondition: every edit lies in it.
  size_t size(size_t document_bytes) const;
  // The pieces to write. They end when this object is changed or moved, or the document goes.
  Segments segments(std::string_view document) const;
  // The edited document in one string, for those who need it whole.
  std::string apply(std::string_view document) const;

 private:
  std::array<Edit, kEditsMax> edits_;
  size_t count_ = 0;
};

}  // namespace hw::json
