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

constexpr size_t kStep = 32;         // sizes are rounded up to a multiple
constexpr size_t kLargest = 2048;    // beyond it every block is malloc's
constexpr size_t kKept = 32 * 1024;  // bytes of one size that a thread keeps

struct Block {
  Block* next;
};
struct List {
  Block* first = nullptr;
  size_t count = 0;
};
constinit thread_local std::array<List, kLargest / kStep> lists{};

inline void* take(size_t size) {
  if (size == 0) size = 1;
  if (size <= kLargest) {
    List& list = lists[(size - 1) / kStep];
    if (list.first != nullptr) {
      Block* const block = list.first;
      list.first = block->next;
      --list.count;
      return block;
    }
    size = ((size - 1) / kStep + 1) * kStep;
  }
  if (void* const made = std::malloc(size)) return made;
  throw std::bad_alloc();
}

// `size` is at most what malloc gave for the block.
inline void give_back(void* memory, size_t size) {
  if (memory == nullptr) return;
  const size_t place = (size - 1) / kStep;
  if (place >= lists.size() || lists[place].count * (place + 1) * kStep >= kKept) {
    return std::free(memory);
  }
  List& list = lists[place];
  list.first = new (memory) Block{list.first};
  ++list.count;
}

// The size that it was asked for with, rounded; malloc gives eight bytes more.
inline size_t size_of(void* memory) {
  return malloc_usable_size(memory) / kStep * kStep;
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
