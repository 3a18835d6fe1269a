// FaultSeam: lets a test make the k-th operation of journal or database fail, or end the process
// there. In production there is none and each point costs one comparison.
#pragma once

#include <cstdint>

namespace hw::journal {

// The operations that can fail; asked for right before each one.
enum class FaultPoint : uint8_t {
  kAppend,    // a record into the journal
  kRotate,    // taking the next segment
  kSetAside,  // reserving disk space for a segment
  kBegin,     // begin of a transaction
  kInsert,    // a row
  kCommit,    // end of a transaction
  kRecycle,   // after a commit, before a segment is free again; cannot fail, only be the end
};

// Called from loops and from the writer thread at once.
class FaultSeam {
 public:
  virtual ~FaultSeam() = default;
  // True: the operation must fail as if disk or memory were full.
  virtual bool fails(FaultPoint point) = 0;
};

// Whether the operation is to fail; `seam` may be null.
inline bool fails(FaultSeam* seam, FaultPoint point) {
  return seam != nullptr && seam->fails(point);
}

}  // namespace hw::journal
