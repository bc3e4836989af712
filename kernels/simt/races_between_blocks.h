// Data races in global memory between blocks of one launch, found when all blocks have run, from
// what each did: so that it does not matter which ran at the same time.
#pragma once
#include "kernels/simt/block_log.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch.h"

#include <vector>

namespace paged::simt {

/// Two accesses of different blocks race if they touch a byte in common, one of them writes
/// (atomics do not race with atomics) and nothing orders them (block_order.h). logs: one of each
/// block, in the order that findings should not depend on. One finding for each line that races.
std::vector<RecordedFinding> find_races_between_blocks(const LaunchRequest& launch,
                                                       const std::vector<BlockLog>& logs);

}  // namespace paged::simt
