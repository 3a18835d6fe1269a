// HW_ASSERT: states what our own code guarantees. A failure is our bug, never bad input; it prints
// the place and stops the process, in every build.
#pragma once

namespace hw {
// Prints "FILE:LINE: assertion failed: WHAT" to standard error and aborts.
[[noreturn]] void assert_failed(const char* what, const char* file, int line);
}  // namespace hw

#define HW_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::hw::assert_failed(#condition, __FILE__, __LINE__))
