// Buffer: bytes received and not used up yet. Grows without clearing, always leaves room behind the
// end for a SIMD reader, and frees its memory when told to.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/recycled.h"

namespace hw::http {

// Not moved and not copied.
class Buffer {
 public:
  // simdjson reads up to this many bytes past the end (SIMDJSON_PADDING).
  static constexpr size_t kPadding = 64;

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The bytes held; views end with the next change.
  std::string_view view() const { return {data_ + begin_, end_ - begin_}; }
  const char* data() const { return data_ + begin_; }
  size_t size() const { return end_ - begin_; }
  // Nothing is held.
  bool empty() const { return begin_ == end_; }
  // Bytes that may be read from data() on: size() plus at least kPadding once something is held.
  size_t readable() const { return capacity_ - begin_; }

  // Makes room for `size` bytes in all (plus padding); may move the data.
  void reserve(size_t size) {
    if (begin_ + size + kPadding <= capacity_) return;
    const size_t held = this->size();
    const char* const from = data();
    std::unique_ptr<Block> block;
    std::unique_ptr<char[]> large;
    if (size + kPadding <= kBlockBytes) {
      block.reset(new Block);  // its bytes stay as they are
      capacity_ = kBlockBytes;
    } else {
      large.reset(new char[size + kPadding]);
      capacity_ = size + kPadding;
    }
    data_ = block != nullptr ? block->bytes : large.get();
    if (held > 0) std::memcpy(data_, from, held);
    block_ = std::move(block);
    large_ = std::move(large);
    begin_ = 0;
    end_ = held;
  }
  // Room for what one read of a request mostly brings.
  void reserve_block() { reserve(kBlockBytes - kPadding); }
  // Room behind the data that may be written, up to commit().
  char* tail() { return data_ + end_; }
  size_t room() const { return capacity_ < end_ + kPadding ? 0 : capacity_ - end_ - kPadding; }
  void commit(size_t size) { end_ += size; }

  // Puts `bytes` behind what is held.
  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    if (room() < bytes.size()) reserve(size() + bytes.size());
    std::memcpy(tail(), bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  // Drops the first `size` bytes.
  void consume(size_t size) {
    begin_ += size;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Drops everything; memory above `keep` bytes is freed.
  void clear(size_t keep = 0) {
    begin_ = end_ = 0;
    if (capacity_ <= keep + kPadding) return;
    block_.reset();
    large_.reset();
    data_ = nullptr;
    capacity_ = 0;
  }

 private:
  // Nearly every request fits into one; they go from request to request of a thread.
  static constexpr size_t kBlockBytes = 4096;
  struct Block : Recycled<Block> {
    char bytes[kBlockBytes];
  };

  std::unique_ptr<Block> block_;
  std::unique_ptr<char[]> large_;
  char* data_ = nullptr;  // in one of them
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace hw::http
