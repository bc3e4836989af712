#include "tests/harness/invariant.h"

#include "reference/input_error.h"
#include "tests/harness/invariants/all.h"

namespace paged {

const std::vector<Invariant>& invariants() {
  static const std::vector<Invariant> all = {
      single_token(),         reference(),      empty_sequence(),     block_permutation(),
      table_padding(),        tail_isolation(), block_isolation(),    head_isolation(),
      batch_independence(),   determinism(),    writes_only_output(), large_logits(),
      partition_invariance(),
  };
  return all;
}

const Invariant& find_invariant(const std::string& id) {
  std::string ids;
  for (const Invariant& invariant : invariants()) {
    if (invariant.id == id) return invariant;
    ids += (ids.empty() ? "" : ", ") + invariant.id;
  }
  throw InputError("there is no invariant '" + id + "'; there are " + ids);
}

Verdict try_invariant(const Invariant& invariant, KernelUnderTest& kernel, const Case& c,
                      std::uint64_t seed) {
  kernel.take_faults();
  Verdict verdict = invariant.check(kernel, c, seed);
  const std::vector<std::string> faults = kernel.take_faults();
  if (!faults.empty()) {
    // A finding is the cause, a wrong result its symptom: the finding comes first.
    verdict.message =
        faults.front() +
        (faults.size() > 1 ? " (and " + std::to_string(faults.size() - 1) + " more findings)"
                           : "") +
        (verdict.held ? "" : "; besides: " + verdict.message);
    verdict.held = false;
    verdict.faulty = true;
  }
  return verdict;
}

}  // namespace paged
