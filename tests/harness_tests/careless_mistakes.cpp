#include "tests/harness_tests/careless_stage.h"

namespace paged::testing {

const std::vector<CarelessnessInfo>& carelessnesses() {
  static const std::vector<CarelessnessInfo> all = {
      // What is read before another thread wrote it is nobody's, too.
      {Carelessness::barrier_missing, "barrier_missing", {"no-race", "no-uninitialised"}},
      {Carelessness::weights_never_filled, "weights_never_filled", {"no-uninitialised"}},
      {Carelessness::table_read_too_far, "table_read_too_far", {"in-bounds"}},
      {Carelessness::barrier_in_branch, "barrier_in_branch", {"no-barrier-divergence"}},
  };
  return all;
}

}  // namespace paged::testing
