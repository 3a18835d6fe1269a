// operator new and delete of the program: small blocks are kept in lists of their thread.
//
// A request makes and drops some twenty blocks, coroutine frames mostly. malloc keeps seven of a
// size at hand; with dozens of requests in flight it goes through its slower parts for most of
// them. Blocks come from malloc and may go back to it at any time, so that a block of another
// thread, or one deleted by a library without its size, needs no special care.
#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// malloc's blocks are 16 bytes apart and 8 of each are its own, so that a size of 16 n + 8 wastes
// nothing.
constexpr size_t kStep = 16;
constexpr size_t kOwn = 8;
constexpr size_t kLargest = 2040;    // beyond it every block is malloc's
constexpr size_t kKept = 32 * 1024;  // bytes of one size that a thread keeps

struct Block {
  Block* next;
};
struct List {
  Block* first = nullptr;
  size_t count = 0;
};
constinit thread_local std::array<List, (kLargest + kOwn) / kStep> lists{};

// The list of blocks that hold `size` bytes.
inline size_t place_of(size_t size) {
  return (size + kOwn - 1) / kStep;
}

inline void* take(size_t size) {
  if (size == 0) size = 1;
  if (size <= kLargest) {
    const size_t place = place_of(size);
    List& list = lists[place];
    if (list.first != nullptr) {
      Block* const block = list.first;
      list.first = block->next;
      --list.count;
      return block;
    }
    size = (place + 1) * kStep - kOwn;
  }
  if (void* const made = std::malloc(size)) return made;
  throw std::bad_alloc();
}

// `size` is at most what malloc gave for the block.
inline void give_back(void* memory, size_t size) {
  if (memory == nullptr) return;
  const size_t place = place_of(size);
  if (place >= lists.size() || lists[place].count * (place + 1) * kStep >= kKept) {
    return std::free(memory);
  }
  List& list = lists[place];
  list.first = new (memory) Block{list.first};
  ++list.count;
}

// All that malloc gave for it.
inline size_t size_of(void* memory) {
  return malloc_usable_size(memory);
}

}  // namespace

void* operator new(size_t size) {
  return take(size);
}
void* operator new[](size_t size) {
  return take(size);
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) give_back(memory, size_of(memory));
}
void operator delete[](void* memory) noexcept {
  if (memory != nullptr) give_back(memory, size_of(memory));
}
void operator delete(void* memory, size_t size) noexcept {
  give_back(memory, size);
}
void operator delete[](void* memory, size_t size) noexcept {
  give_back(memory, size);
}
