// Cases drawn at random, for fuzzing.
#pragma once
#include "stages/stage.h"
#include "tests/harness/case_spec.h"
#include "tests/harness/random.h"

namespace paged {

/// A case that a stage is built for: types, sizes, heads, lengths around pages and partitions,
/// tables, families, poison, and those options that the stage takes. Most have few heads and short
/// sequences, one in sixteen more of both; every invariant is tried on one in a fifth of a second
/// on the CPU machine. A file holds it (case_file.h).
///
/// Families whose logits leave the range of exp() are left out for stages that do not promise
/// `large-logits`. A few of the cases drawn cannot be built, such as one whose logits overflow;
/// then build_case() says so.
CaseSpec random_case(Random& random, const Stage& stage);

}  // namespace paged
