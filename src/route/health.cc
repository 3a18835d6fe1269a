#include "route/health.h"

#include "base/text.h"

namespace hw::route {

std::string Health::reason(Nanos now) const {
  const Nanos left = cooling(now);
  if (left == 0) return {};
  const int status = status_.load(std::memory_order_relaxed);
  // Rounded up: "for 0 s" would read as "not at all".
  const int64_t seconds = (left + kSecond - 1) / kSecond;
  if (credential_refused())
    return concat("credential refused (", status, "), tried again in ", seconds, " s");
  return concat("cooling down for ", seconds, " s after ", status);
}

}  // namespace hw::route
