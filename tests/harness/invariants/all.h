// Each invariant's definition, one function a file of this folder.
#pragma once
#include "tests/harness/invariant.h"

namespace paged {

Invariant single_token();
Invariant reference();
Invariant block_permutation();
Invariant table_padding();
Invariant tail_isolation();
Invariant block_isolation();
Invariant head_isolation();
Invariant batch_independence();
Invariant determinism();
Invariant empty_sequence();
Invariant writes_only_output();
Invariant large_logits();
Invariant partition_invariance();

}  // namespace paged
