#include "journal/call_block.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/varint.h"
#include "journal/call_samples.h"

namespace hw::journal {
namespace {

struct Encoded {
  std::string record;
  CallKey key;
};

Encoded encoded(const timeline::Call& call) {
  static std::vector<char> buffer(kCallBytesMax);
  Encoded made;
  made.record = encode_call(call, buffer);
  REQUIRE(peek_call(made.record, made.key));
  return made;
}

TEST_CASE("records come back from a block in their order") {
  Random random(1);
  BlockBuilder block;
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) {
    const Encoded call = encoded(sample_call(random));
    block.add(call.record, call.key);
    expected.push_back(call.record);
  }
  CHECK(block.count() == 50);
  std::string_view data = block.data(), record;
  std::vector<std::string> found;
  while (next_in_block(data, record)) found.emplace_back(record);
  CHECK(data.empty());
  CHECK(found == expected);
  block.clear();
  CHECK(block.empty());
  CHECK(block.data().empty());
}

TEST_CASE("a block knows the times of its calls; the range leaves out old arrivals") {
  Random random(2);
  BlockBuilder block;
  for (const int64_t seconds : {100, 130, 20, 159, 161, 160}) {
    const Encoded call = encoded(typical_call(random, seconds * kSecond, 0));
    block.add(call.record, call.key);
  }
  CHECK(block.last_ms() == 161'000);
  CHECK(block.first_ms() == 130'000);  // 100 s is more than a minute before
  CHECK(block.aliases().size() == 2);  // the calls of 100 s and of 20 s, by their ids
}

TEST_CASE("aliases are given ids, given traces, and ids of old arrivals") {
  Random random(3);
  BlockBuilder block;
  timeline::Call named = typical_call(random, 1'000 * kSecond, 0);
  named.client_request_id = "mine";
  timeline::Call traced = typical_call(random, 1'000 * kSecond, 0);
  traced.trace = TraceId::make(random);
  const timeline::Call old = typical_call(random, 900 * kSecond, 0);
  const timeline::Call plain = typical_call(random, 1'000 * kSecond, 0);
  for (const timeline::Call& call : {named, traced, old, plain}) {
    const Encoded made = encoded(call);
    block.add(made.record, made.key);
  }
  std::vector<std::string> names = block.aliases();
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected = {"mine", traced.trace.hex(), std::string(old.id.view())};
  std::sort(expected.begin(), expected.end());
  CHECK(names == expected);
}

TEST_CASE("a block is full by bytes or by calls") {
  Random random(4);
  BlockBuilder block;
  const Encoded call = encoded(typical_call(random, kSampleWall, 0));
  while (!block.full()) block.add(call.record, call.key);
  CHECK(block.data().size() >= BlockBuilder::kBytesMax);
  CHECK(block.data().size() < BlockBuilder::kBytesMax + call.record.size() + kVarintBytesMax);
}

TEST_CASE("damaged data ends a block's reading inside of it") {
  Random random(5);
  const Encoded call = encoded(sample_call(random));
  BlockBuilder block;
  block.add(call.record, call.key);
  for (size_t cut = 0; cut < block.data().size(); ++cut) {
    const std::vector<char> part(block.data().begin(),
                                 block.data().begin() + static_cast<std::ptrdiff_t>(cut));
    std::string_view data(part.data(), part.size()), record;
    CHECK_FALSE(next_in_block(data, record));
  }
}

}  // namespace
}  // namespace hw::journal
