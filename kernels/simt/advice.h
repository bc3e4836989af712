// What to do about each kind of finding.
#pragma once
#include "kernels/finding.h"

namespace paged::simt {

/// For the person who wrote the kernel: half a sentence that follows "what to do: ", without a
/// semicolon, at which messages are broken into parts.
const char* advice_for(FindingKind kind);

/// Of a deadlock in which threads wait at an mbarrier.
const char* advice_for_mbarriers();

}  // namespace paged::simt
