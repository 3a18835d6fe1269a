#include "scheduler/block_pool.h"

#include "base/assert.h"

namespace hw::scheduler {

BlockPool::BlockPool(int64_t blocks) {
  HW_ASSERT(blocks >= 2);
  blocks_.resize(static_cast<size_t>(blocks) + 1);
  at(kNullBlock).next = tail();
  at(tail()).previous = kNullBlock;
  for (BlockId block = 1; block < tail(); ++block) link(block, tail());
}

BlockId BlockPool::take() {
  const BlockId block = first_free();
  HW_ASSERT(block != kNullBlock);
  unlink(block);
  at(block).references = 1;
  return block;
}

void BlockPool::refer(BlockId block) {
  if (at(block).references++ == 0) unlink(block);
}

void BlockPool::release(BlockId block) {
  HW_ASSERT(at(block).references > 0);
  if (--at(block).references > 0) return;
  link(block, at(block).cached ? tail() : at(kNullBlock).next);
}

void BlockPool::link(BlockId block, BlockId before) {
  const BlockId previous = at(before).previous;
  at(block).previous = previous;
  at(block).next = before;
  at(previous).next = block;
  at(before).previous = block;
  ++free_;
}

void BlockPool::unlink(BlockId block) {
  at(at(block).previous).next = at(block).next;
  at(at(block).next).previous = at(block).previous;
  --free_;
}

}  // namespace hw::scheduler
