#include "tests/harness/invariant.h"

#include "reference/input_error.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/likely_cause.h"

namespace paged {
namespace {

void add_diagnosis(Verdict& verdict, KernelUnderTest& kernel) {
  const Suspect& suspect = *verdict.suspect;
  const Diagnosis diagnosis = diagnose(kernel, suspect.problem, suspect.seq, suspect.head);
  verdict.message += "; " + diagnosis.text;
  verdict.cause = diagnosis.cause.id;
  verdict.is_unexplained = diagnosis.is_unexplained();
  verdict.cause_shows_in_one_token = diagnosis.cause.shows_in_one_token;
  kernel.take_faults();  // those of the runs that recovered the weights were reported already
}

/// The first finding, with how often it came and how many others there are: "... (3 times, and 1
/// more finding)".
std::string text_of(const std::vector<Fault>& faults) {
  std::string text = faults.front().text;
  if (faults.size() == 1) return text;
  const std::string more = "and " + counted(faults.size() - 1, "more finding") + ")";
  if (!text.ends_with(" times)")) return text + " (" + more;
  text.pop_back();
  return text + ", " + more;
}

/// As a library declares it (kernels/paged_decode.h).
const char* name_of(bool StageFeatures::*feature) {
  if (feature == &StageFeatures::alibi) return "PAGED_TAKES_ALIBI";
  if (feature == &StageFeatures::block_sparse) return "PAGED_TAKES_BLOCK_SPARSE";
  return "PAGED_TAKES_PARTITIONS";
}

}  // namespace

Verdict Verdict::of(const Comparison& comparison, const DecodeProblem& problem) {
  Verdict verdict = of(comparison);
  if (comparison.seq >= 0) verdict.suspect = Suspect{problem, comparison.seq, comparison.head};
  return verdict;
}

const std::vector<Invariant>& invariants() {
  static const std::vector<Invariant> all = {
      // what attention is
      single_token(), reference(), empty_sequence(),
      // the softmax
      probability_mass(), constant_value(), convexity(), value_linearity(), large_logits(),
      shift_invariance(),
      // where tokens lie
      block_permutation(), token_order(), table_padding(), tail_isolation(), block_isolation(),
      head_isolation(), strides(), wide_address(),
      // what a result may depend on
      batch_independence(), determinism(), partition_invariance(), writes_only_output(),
      // options
      alibi(), block_sparse(), fp8_scale(),
      // what fills the cache
      cache_write(), copy_on_write(),
      // the execution itself
      in_bounds(), no_uninitialised(), no_race(), no_barrier_divergence()};
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

std::string why_not_on(const Invariant& invariant, const KernelUnderTest& kernel) {
  const Stage& stage = kernel.stage();
  if (invariant.needs == &StageFeatures::cache_operations && !stage.features.cache_operations)
    return "it tries operations on caches, which a kernel from a library doesn't bring along";
  if (invariant.needs != nullptr && !(stage.features.*invariant.needs))
    return title_of(stage) + " doesn't declare what it needs (" + name_of(invariant.needs) + ")";
  if (!invariant.needs_watching || kernel.is_watched()) return "";
  if (stage.number == 0)
    return "only the CPU machine's checker sees it, and that runs no compiled library; on a GPU, "
           "compute-sanitizer looks for it";
  return "only the CPU machine's checker sees it: use --backend cpu without --unchecked; on a GPU, "
         "compute-sanitizer looks for it (tests/gpu.sh)";
}

Verdict try_invariant(const Invariant& invariant, KernelUnderTest& kernel, const Case& c,
                      std::uint64_t seed) {
  kernel.take_faults();
  kernel.take_record();
  kernel.device().take_counts();
  Verdict verdict = invariant.check(kernel, c, seed);
  verdict.record = kernel.take_record();
  verdict.counts = kernel.device().take_counts().phases.total();
  const std::vector<Fault> faults = kernel.take_attributed_faults();
  if (!verdict.held && verdict.suspect && !spoil_results(faults)) add_diagnosis(verdict, kernel);
  verdict.suspect.reset();
  if (!faults.empty()) {
    // A finding is the cause, a wrong result its symptom: the finding comes first, and last what
    // to do about it.
    verdict.message = text_of(faults) +
                      (verdict.held ? "" : "; seen in the result: " + verdict.message) +
                      advice_part(faults.front());
    verdict.held = false;
    verdict.faulty = true;
    verdict.broken_execution = faults.front().breaks;
    verdict.finding = faults.front().kind;
  }
  return verdict;
}

}  // namespace paged
