// Recycled<T>: objects that each exchange makes and drops again are kept in a list of their thread
// instead of going through the allocator, which is slow above a kilobyte.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hw {

// Derive T from Recycled<T> and make it with new or std::make_unique. An object must be destroyed
// on the thread that made it for its memory to be used again; elsewhere it just moves to that
// thread.
template <class T>
class Recycled {
 public:
  // More spare objects than this go back to the allocator: a burst does not keep its memory.
  static constexpr size_t kSpareMax = 64;
  static constexpr size_t kSpareBytesMax = 128 * 1024;

  static void* operator new(size_t size) {
    std::vector<void*>& spare = list().blocks;
    if (size != sizeof(T) || spare.empty()) return ::operator new(size);
    void* block = spare.back();
    spare.pop_back();
    return block;
  }
  static void operator delete(void* block, size_t size) {
    std::vector<void*>& spare = list().blocks;
    if (size != sizeof(T) || spare.size() >= kSpareMax || spare.size() * size >= kSpareBytesMax)
      return ::operator delete(block);
    spare.push_back(block);
  }

 private:
  struct List {
    std::vector<void*> blocks;
    List() { blocks.reserve(kSpareMax); }
    ~List() {
      for (void* block : blocks) ::operator delete(block);
    }
  };
  static List& list() {
    static thread_local List spare;
    return spare;
  }
};

}  // namespace hw
