// What to do about each kind of finding.
#pragma once
#include "kernels/finding.h"

namespace paged::simt {

/// One sentence for the person who wrote the kernel.
const char* advice_for(FindingKind kind);

}  // namespace paged::simt
