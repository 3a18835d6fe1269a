#include "json/tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"

namespace hw::json {

struct TokenIndex {
  // Grown at least to this: covers nearly every event of a stream.
  static constexpr size_t kCapacityMin = 4096;
  // Kept up to this: the index of a 256 KiB text takes up to 1 MiB.
  static constexpr size_t kCapacityKept = 256 * 1024;
  static constexpr size_t kBlockBytes = 4096;

  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
  std::string padded;
  std::vector<std::unique_ptr<char[]>> blocks;
  char* free_begin = nullptr;  // in the last block
  size_t free_bytes = 0;
};

namespace {

// Documents are nested two deep at most; a third that comes and goes is made anew.
constexpr size_t kPooledMax = 2;

std::vector<std::unique_ptr<TokenIndex>>& pool() {
  thread_local std::vector<std::unique_ptr<TokenIndex>> indexes;
  return indexes;
}

void grow(TokenIndex& index, size_t bytes) {
  if (index.stage && index.stage->capacity() >= bytes) return;
  const size_t capacity =
      std::min(std::bit_ceil(std::max(bytes, TokenIndex::kCapacityMin)), kTextBytesMax);
  // The depth counts for simdjson's second stage only, which is not used.
  const auto error = index.stage
                         ? index.stage->set_capacity(capacity)
                         : simdjson::get_active_implementation()->create_dom_parser_implementation(
                               capacity, 1, index.stage);
  HW_ASSERT(error == simdjson::SUCCESS);  // out of memory
}

void drop_scratch(TokenIndex& index) {
  index.blocks.clear();
  index.free_begin = nullptr;
  index.free_bytes = 0;
}

// What stage one may read. Its scalar form, for machines without SSE 4.2, looks up to three bytes
// past a cut character, so it gets a copy with room behind it; the SIMD forms do not.
std::string_view readable(TokenIndex& index, std::string_view text) {
  static const bool is_scalar = simdjson::get_active_implementation()->name() == "fallback";
  if (!is_scalar) return text;
  index.padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  index.padded = text;
  return index.padded;
}

TokenFault fault_of(simdjson::error_code error) {
  if (error == simdjson::EMPTY) return TokenFault::kEmpty;
  if (error == simdjson::UTF8_ERROR) return TokenFault::kNotUtf8;
  if (error == simdjson::UNESCAPED_CHARS) return TokenFault::kControl;
  return TokenFault::kOpenString;
}

}  // namespace

TokenIndex* borrow_token_index() {
  auto& indexes = pool();
  if (indexes.empty()) return new TokenIndex;
  TokenIndex* index = indexes.back().release();
  indexes.pop_back();
  return index;
}

void return_token_index(TokenIndex* index) {
  std::unique_ptr<TokenIndex> owned(index);
  auto& indexes = pool();
  if (indexes.size() == kPooledMax) return;
  if (owned->stage && owned->stage->capacity() > TokenIndex::kCapacityKept) return;
  drop_scratch(*owned);
  indexes.push_back(std::move(owned));
}

TokenFault index_tokens(TokenIndex& index, std::string_view text, Tokens& out) {
  drop_scratch(index);
  out = {text, nullptr, 0};
  if (text.empty()) return TokenFault::kEmpty;
  if (text.size() > kTextBytesMax) return TokenFault::kTooLong;
  grow(index, text.size());
  const std::string_view bytes = readable(index, text);
  const auto error = index.stage->stage1(reinterpret_cast<const uint8_t*>(bytes.data()),
                                         bytes.size(), simdjson::stage1_mode::regular);
  if (error != simdjson::SUCCESS) return fault_of(error);
  out.offsets = index.stage->structural_indexes.get();
  out.count = index.stage->n_structural_indexes;
  return TokenFault::kNone;
}

char* scratch(TokenIndex& index, size_t bytes) {
  if (index.free_bytes < bytes) {
    const size_t block = std::max(bytes, TokenIndex::kBlockBytes);
    index.blocks.push_back(std::make_unique_for_overwrite<char[]>(block));
    index.free_begin = index.blocks.back().get();
    index.free_bytes = block;
  }
  char* begin = index.free_begin;
  index.free_begin += bytes;
  index.free_bytes -= bytes;
  return begin;
}

}  // namespace hw::json
