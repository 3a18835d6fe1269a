// BlockHash: what a full block of a sequence is known by: its tokens, all tokens before it, and the
// salt. Two blocks of one hash have the same keys and values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hw::scheduler {

using Token = int32_t;  // an index into the model's vocabulary

inline constexpr int kBlockTokens = 16;  // vLLM's block size

// 128 bits. Without the key nobody can make two different beginnings of one hash, so no caller can
// be given another's keys and values. All zeros stands for no hash.
struct BlockHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const BlockHash&) const = default;
};

// The secret of one engine: drawn at its start, or fixed where runs must be alike.
struct HashKey {
  uint64_t first = 0x0706050403020100;
  uint64_t second = 0x0f0e0d0c0b0a0908;
};

// SipHash-2-4 with a result of 128 bits (Aumasson, Bernstein 2012; the reference implementation's
// `siphash` with outlen 16).
BlockHash siphash128(const HashKey& key, std::span<const unsigned char> bytes);

// What the first block's hash is chained to: the salt, so that salted prefixes never meet others.
BlockHash chain_root(const HashKey& key, std::string_view salt);
// The hash of a block of kBlockTokens tokens behind `parent`.
BlockHash chain_hash(const HashKey& key, const BlockHash& parent,
                     std::span<const Token, kBlockTokens> tokens);

}  // namespace hw::scheduler
