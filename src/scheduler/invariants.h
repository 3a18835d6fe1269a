// The invariants of the scheduler that can be seen between its calls.
#pragma once

#include <string>

#include "scheduler/scheduler.h"

namespace hw::scheduler {

// What is broken, in a sentence with the numbers; empty: nothing. Takes time linear in blocks and
// sequences, so it runs by itself in debug builds alone. Checked are
//
//   step       tokens within the budget, sequences within max_num_seqs, each item at least a token
//   blocks     free and used make all; a block is free exactly without references; no doubles
//   references each block has as many as block tables that hold it
//   cache      every entry's block has that hash, the one its tokens give; taken blocks have none
//   tables     blocks enough for what is computed; a block of others is never written
//   places     each sequence is in exactly one of waiting, running, over
//   progress   computed within the known tokens; work is planned whenever somebody could run
//   idle       nobody there: no block used
std::string broken_invariant(const Scheduler& scheduler);

}  // namespace hw::scheduler
