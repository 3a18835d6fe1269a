#include "scheduler/block_hash.h"

#include <bit>
#include <cstring>
#include <vector>

namespace hw::scheduler {
namespace {

// The state of SipHash; names as in the paper.
struct Sip {
  uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
      v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
      v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
    }
  }
  void take(uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

uint64_t word_at(const unsigned char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

// What a hash is of, as its first byte, so that a salt and a block never mean the same.
enum class Domain : unsigned char { kSalt = 1, kBlock = 2 };

}  // namespace

BlockHash siphash128(const HashKey& key, std::span<const unsigned char> bytes) {
  Sip sip = {key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
             key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  sip.v1 ^= 0xee;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) sip.take(word_at(bytes.data() + at, 8));
  const uint64_t length = static_cast<uint64_t>(bytes.size()) << 56;
  sip.take(length | word_at(bytes.data() + at, bytes.size() - at));
  BlockHash hash;
  sip.v2 ^= 0xee;
  sip.rounds(4);
  hash.low = sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
  sip.v1 ^= 0xdd;
  sip.rounds(4);
  hash.high = sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
  return hash;
}

BlockHash chain_root(const HashKey& key, std::string_view salt) {
  std::vector<unsigned char> bytes = {static_cast<unsigned char>(Domain::kSalt)};
  bytes.insert(bytes.end(), salt.begin(), salt.end());
  return siphash128(key, bytes);
}

BlockHash chain_hash(const HashKey& key, const BlockHash& parent,
                     std::span<const Token, kBlockTokens> tokens) {
  std::array<unsigned char, 1 + sizeof parent + kBlockTokens * sizeof(Token)> bytes;
  bytes[0] = static_cast<unsigned char>(Domain::kBlock);
  std::memcpy(bytes.data() + 1, &parent, sizeof parent);
  std::memcpy(bytes.data() + 1 + sizeof parent, tokens.data(), tokens.size_bytes());
  return siphash128(key, bytes);
}

}  // namespace hw::scheduler
