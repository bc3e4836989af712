// Each invariant's definition, one function a file of this folder.
#pragma once
#include "tests/harness/invariant.h"

namespace paged {

Invariant single_token();
Invariant reference();
Invariant empty_sequence();
Invariant probability_mass();
Invariant constant_value();
Invariant convexity();
Invariant value_linearity();
Invariant large_logits();
Invariant shift_invariance();
Invariant block_permutation();
Invariant token_order();
Invariant strides();
Invariant table_padding();
Invariant tail_isolation();
Invariant block_isolation();
Invariant head_isolation();
Invariant wide_address();
Invariant batch_independence();
Invariant determinism();
Invariant partition_invariance();
Invariant writes_only_output();
Invariant alibi();
Invariant block_sparse();
Invariant fp8_scale();
Invariant cache_write();
Invariant copy_on_write();
Invariant in_bounds();
Invariant no_uninitialised();
Invariant no_race();
Invariant no_barrier_divergence();

}  // namespace paged
