// Health of a channel: whether it is cooling down and why. Shared by all loops through atomics;
// nothing on the data path locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"

namespace hw::route {

// How one channel fares; any loop reads and writes it.
class Health {
 public:
  // How long a channel whose credential was refused is passed over while others can serve.
  static constexpr Nanos kCredentialPause = 30 * kSecond;
  // The longest cool-down an upstream can ask for; a longer retry-after is cut to it.
  static constexpr Nanos kCoolMax = 3600 * kSecond;

  // Passes the channel over until `now + for_ns`; `status` is what the upstream answered.
  void cool_down(Nanos now, Nanos for_ns, int status) {
    status_.store(status, std::memory_order_relaxed);
    until_.store(now + (for_ns < kCoolMax ? for_ns : kCoolMax), std::memory_order_relaxed);
  }
  // The upstream refused our credential (401 or 403): the operator has to act.
  void mark_credential(Nanos now, int status) {
    credential_refused_.store(true, std::memory_order_relaxed);
    cool_down(now, kCredentialPause, status);
  }
  // A call went through: the credential is fine.
  void mark_good() {
    if (credential_refused_.load(std::memory_order_relaxed)) {
      credential_refused_.store(false, std::memory_order_relaxed);
    }
  }

  // How long it still cools down; 0: it does not.
  Nanos cooling(Nanos now) const {
    const Nanos until = until_.load(std::memory_order_relaxed);
    return until > now ? until - now : 0;
  }
  bool credential_refused() const { return credential_refused_.load(std::memory_order_relaxed); }
  // "cooling down for 12 s after 429".
  std::string reason(Nanos now) const;

 private:
  std::atomic<Nanos> until_{0};
  std::atomic<int> status_{0};
  std::atomic<bool> credential_refused_{false};
};

}  // namespace hw::route
