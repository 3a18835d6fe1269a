// Buffer: bytes received and not used up yet. Grows without clearing, always leaves room behind the
// end for a SIMD reader, and frees its memory when told to.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace hw::http {

class Buffer {
 public:
  // simdjson reads up to this many bytes past the end (SIMDJSON_PADDING).
  static constexpr size_t kPadding = 64;

  // The bytes held; views end with the next change.
  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  const char* data() const { return data_.get() + begin_; }
  size_t size() const { return end_ - begin_; }
  // Nothing is held.
  bool empty() const { return begin_ == end_; }
  // Bytes that may be read from data() on: size() plus at least kPadding once something is held.
  size_t readable() const { return capacity_ - begin_; }

  // Makes room for `size` bytes in all (plus padding); may move the data.
  void reserve(size_t size) {
    if (begin_ + size + kPadding <= capacity_) return;
    std::unique_ptr<char[]> grown(new char[size + kPadding]);
    const size_t held = this->size();
    if (held > 0) std::memcpy(grown.get(), data(), held);
    data_ = std::move(grown);
    capacity_ = size + kPadding;
    begin_ = 0;
    end_ = held;
  }
  // Room behind the data that may be written, up to commit().
  char* tail() { return data_.get() + end_; }
  size_t room() const { return capacity_ < end_ + kPadding ? 0 : capacity_ - end_ - kPadding; }
  void commit(size_t size) { end_ += size; }

  // Copies `bytes` behind what is held.
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
  void clear(size_t keep) {
    begin_ = end_ = 0;
    if (capacity_ > keep + kPadding) {
      data_.reset();
      capacity_ = 0;
    }
  }

 private:
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace hw::http
