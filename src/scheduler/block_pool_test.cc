#include "scheduler/block_pool.h"

#include <doctest/doctest.h>

namespace hw::scheduler {
namespace {

std::vector<BlockId> queue_of(const BlockPool& pool) {
  std::vector<BlockId> queue;
  for (BlockId b = pool.first_free(); b != kNullBlock; b = pool.next_free(b)) queue.push_back(b);
  return queue;
}

TEST_CASE("all blocks but the null block are free at first, the lowest first") {
  BlockPool pool(5);
  CHECK(pool.usable_blocks() == 4);
  CHECK(queue_of(pool) == std::vector<BlockId>{1, 2, 3, 4});
  CHECK(pool.take() == 1);
  CHECK(pool.used_blocks() == 1);
  CHECK(pool.references(1) == 1);
}

TEST_CASE("a released block is used next, a cached one last") {
  BlockPool pool(5);
  for (int i = 0; i < 3; ++i) pool.take();
  pool.set_cached(1, true);
  pool.release(1);
  pool.release(2);
  pool.release(3);
  CHECK(queue_of(pool) == std::vector<BlockId>{3, 2, 4, 1});
}

TEST_CASE("a block that is referred to again leaves the queue wherever it is") {
  BlockPool pool(5);
  for (int i = 0; i < 3; ++i) pool.take();
  for (const BlockId block : {1, 2, 3}) {
    pool.set_cached(block, true);
    pool.release(block);
  }
  CHECK(queue_of(pool) == std::vector<BlockId>{4, 1, 2, 3});
  pool.refer(2);
  CHECK(queue_of(pool) == std::vector<BlockId>{4, 1, 3});
  pool.refer(2);
  pool.release(2);
  CHECK(pool.references(2) == 1);
  CHECK(pool.free_blocks() == 3);
  pool.release(2);
  CHECK(queue_of(pool) == std::vector<BlockId>{4, 1, 3, 2});
}

TEST_CASE("the queue may run empty and fill again") {
  BlockPool pool(3);
  pool.take();
  pool.take();
  CHECK(pool.free_blocks() == 0);
  CHECK(pool.first_free() == kNullBlock);
  pool.release(1);
  CHECK(queue_of(pool) == std::vector<BlockId>{1});
}

}  // namespace
}  // namespace hw::scheduler
