// How many passes over the banks of shared memory an instruction of a warp takes.
//
// Shared memory has 32 banks of 4 bytes: word w (address / 4) lies in bank w % 32. In one pass, a
// wavefront, each bank gives one word, to as many lanes as ask for it. So a request takes as many
// wavefronts as there are different words in its most wanted bank.
//
// A wavefront moves at most 128 bytes, and lanes that load 8 or 16 bytes are served in parts:
//
//   bytes a lane   parts                        joined to one if
//   1, 2, 4        the warp
//   8              2 half-warps                 the lanes of the warp go in pairs (below)
//   16             4 quarter-warps              two quarters of one half: its lanes go in pairs
//
// "In pairs": each lane that takes part asks for the same as lane ^ 1, or each the same as lane ^
// 2, where a lane that takes no part agrees with any. Then the two parts ask for no more than one
// part can at most. Each part, joined or not, takes wavefronts as above, by its words.
//
// Justified by counts of Nsight Compute on an H200: see docs/counting.md.
#pragma once
#include "kernels/simt/warp_access.h"

namespace paged::simt {

/// Wavefronts of a shared load or store of 1, 2, 4, 8 or 16 bytes a lane. 0 without lanes.
int shared_wavefronts(const WarpAccess& access, int bytes);

}  // namespace paged::simt
