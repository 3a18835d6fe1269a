// Faults: lets a test make the k-th network operation fail. Null in production; then it costs one
// load of a pointer that never changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace hw::net {

// What can be made to fail.
enum class Operation : uint8_t { kRead, kWrite, kConnect };

class Faults {
 public:
  virtual ~Faults() = default;
  // Called before each operation, from any loop's thread; true: it fails with ECONNRESET (reading,
  // writing) or ECONNREFUSED (connecting).
  virtual bool fails(Operation operation) = 0;
};

namespace faults_detail {
inline constinit std::atomic<Faults*> g_faults{nullptr};
}

// Installs `faults`, or takes them away with null. Outlives every loop that runs meanwhile.
inline void set_faults(Faults* faults) {
  faults_detail::g_faults.store(faults, std::memory_order_release);
}
// True where the next operation is to fail.
inline bool fault_due(Operation operation) {
  Faults* faults = faults_detail::g_faults.load(std::memory_order_acquire);
  return faults != nullptr && faults->fails(operation);
}

}  // namespace hw::net
