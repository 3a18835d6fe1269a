#include "scheduler/block_hash.h"

#include <doctest/doctest.h>

#include <vector>

namespace hw::scheduler {
namespace {

TEST_CASE("the hash is that of the reference implementation of SipHash-2-4-128") {
  // vectors_sip128 of github.com/veorq/SipHash, key 00 01 .. 0f, input 00 01 .. of each length.
  const HashKey key;
  CHECK(siphash128(key, {}) == BlockHash{0xe6a825ba047f81a3, 0x930255c71472f66d});
  const unsigned char zero[] = {0};
  CHECK(siphash128(key, zero) == BlockHash{0x44af996bd8c187da, 0x45fc229b11597634});
}

TEST_CASE("a block's hash depends on its tokens, on what comes before, on salt and key") {
  std::vector<Token> tokens(kBlockTokens, 5);
  const auto span = [&] { return std::span<const Token>(tokens).first<kBlockTokens>(); };
  const HashKey key;
  const BlockHash first = chain_hash(key, chain_root(key, ""), span());
  CHECK(first == chain_hash(key, chain_root(key, ""), span()));
  CHECK(first != chain_hash(key, chain_root(key, "salt"), span()));
  CHECK(first != chain_hash(key, first, span()));
  CHECK(first != chain_hash({1, 2}, chain_root(key, ""), span()));
  tokens.back() = 6;
  CHECK(first != chain_hash(key, chain_root(key, ""), span()));
}

}  // namespace
}  // namespace hw::scheduler
