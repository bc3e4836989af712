// A decode attention for the CPU machine whose results are nearly right but whose execution is not:
// each with one mistake that the invariants about execution are there for.
#pragma once
#include "stages/stage.h"

#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace paged::testing {

/// What is wrong with the execution.
enum class Carelessness {
  none,
  barrier_missing,       ///< between the logits and the softmax
  weights_never_filled,  ///< a slot of shared memory past the end of the sequence is read
  table_read_too_far,    ///< the table's entry past the whole table is read
  barrier_in_branch,     ///< only threads with a token wait
};

struct CarelessnessInfo {
  Carelessness carelessness;
  std::string name;
  std::set<std::string> caught_by;  ///< the invariants about execution that it breaks, all of them
};

/// All but none.
const std::vector<CarelessnessInfo>& carelessnesses();

/// Printed by GoogleTest.
inline void PrintTo(const CarelessnessInfo& info, std::ostream* stream) { *stream << info.name; }

}  // namespace paged::testing

namespace paged::cpu_checked {

/// f32 throughout, any sizes.
Stage careless_stage(testing::Carelessness carelessness);

}  // namespace paged::cpu_checked
