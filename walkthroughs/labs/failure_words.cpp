#include "walkthroughs/labs/failure_words.h"

#include "kernels/finding.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/invariant.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace paged::labs {
namespace {

const char* words_for(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds_read:
      return "It reads memory outside of what is there for it (out of bounds).";
    case FindingKind::out_of_bounds_write:
      return "It writes memory outside of what is there for it (out of bounds).";
    case FindingKind::uninitialised_read:
      return "It reads memory that nothing has written (uninitialised).";
    case FindingKind::data_race:
      return "Two threads use the same bytes with nothing to order them, one of them writing (a "
             "data race).";
    case FindingKind::unwritten_output:
      return "A part of the output is never written.";
    case FindingKind::misaligned_access:
      return "It loads or stores at an address that is no multiple of the access's size.";
    case FindingKind::read_before_arrival:
      return "It reads what an asynchronous copy has not brought yet.";
    case FindingKind::barrier_divergence:
      return "The threads of a block wait at different barriers.";
    case FindingKind::barrier_after_exit:
      return "Some threads have ended where others wait for them at a barrier.";
    case FindingKind::deadlock:
      return "Threads wait for others that never come.";
    case FindingKind::mbarrier_misuse:
      return "An mbarrier is used in a way that it does not allow.";
    case FindingKind::warp_operation_mismatch:
    case FindingKind::warp_lane_missing:
      return "The lanes of a warp do not make the same warp operation together.";
    case FindingKind::stack_overflow:
      return "A write past a local array, or too deep a recursion.";
    case FindingKind::index_out_of_array:
      return "It uses an index that is outside of its array (out of bounds).";
  }
  return "";
}

/// Of results that are not as they must be, by invariant.
const std::map<std::string, const char*>& words_for_results() {
  static const std::map<std::string, const char*> words = {
      {"single-token", "With one token, the output is not that token's value."},
      {"reference", "A result is further from the reference than its bound allows."},
      {"empty-sequence", "A sequence without tokens gets something else than zeros."},
      {"block-permutation", "Where the pages lie in memory changes the result."},
      {"token-order", "The order of the tokens changes the result."},
      {"table-padding",
       "Entries of the block table past a sequence's last page change the result."},
      {"tail-isolation", "What lies in unused slots of a sequence's last page changes the result."},
      {"head-isolation", "A head's result changes with data of another KV head."},
      {"batch-independence", "A sequence's result changes with others in the batch."},
      {"probability-mass", "The weights do not add up to what they must."},
      {"constant-value", "All tokens have the same value, and the output is another one."},
      {"large-logits", "With very large or very small logits the result is wrong."},
      {"shift-invariance", "The same number added to all logits changes the result."},
      {"alibi", "The position bias (ALiBi), or what follows from it, is wrong."},
      {"block-sparse",
       "Pages weigh that block-sparse attention leaves out, or the other way round."},
      {"partition-invariance", "A sequence cut into partitions has a wrong result."},
      {"writes-only-output", "The output is not all that is written, or not all of it is."}};
  return words;
}

bool is_nan(const Verdict& verdict) {
  return verdict.wrong_number && std::isnan(verdict.wrong_number->got);
}

std::string reading_of_distance(double times_bound) {
  constexpr double kMostOfRounding = 4;  // a bound is seldom used to more than a half
  return times_bound > kMostOfRounding
             ? "So many times its bound is no matter of rounding: something is left out, taken "
               "twice, or taken from the wrong place."
             : "So little more than its bound can be a matter of rounding: a type that is too "
               "narrow, another order of adding, a small term left out.";
}

std::string reading_of_single_token(const Verdict& verdict) {
  constexpr double kNothing = 5e-7;  // what the message shows as 0.000000
  if (!verdict.wrong_number) return "";
  if (is_nan(verdict)) return "NaN: the softmax has divided by 0, or a NaN was read as a value.";
  if (std::abs(verdict.wrong_number->got) < kNothing)
    return "0: the token has no weight, or its value was never added.";
  return "Another number: the weight of the only token is not 1, or the value is another token's "
         "or head's.";
}

std::string reading_of_tail(PoisonedCache changed) {
  return changed == PoisonedCache::keys
             ? "Keys alone were changed: logits of slots past the end enter the maximum or the sum."
             : "Values alone were changed: the weighted sum runs over slots past the end, and 0 * "
               "NaN is NaN.";
}

std::string reading_of_result(const std::string& invariant, const Verdict& verdict) {
  if (invariant == "single-token") return reading_of_single_token(verdict);
  if (invariant == "tail-isolation" && verdict.poisoned) return reading_of_tail(*verdict.poisoned);
  if (invariant == "empty-sequence")
    return is_nan(verdict) ? "NaN is a division by a sum of 0, or output that nobody wrote."
                           : "A number is output left from before, or a read of a page that is "
                             "not there.";
  if (invariant == "large-logits" && is_nan(verdict))
    return "NaN is exp() of a logit from which no maximum was subtracted: infinite, or infinity "
           "minus infinity.";
  if (verdict.wrong_number && verdict.wrong_number->times_bound > 0)
    return reading_of_distance(verdict.wrong_number->times_bound);
  return invariant == "reference" || invariant == "large-logits"
             ? ""
             : find_invariant(invariant).reading;
}

/// What the CPU machine says of a read of shared memory; other memory is read by an address that was
/// computed from the block table.
bool is_unwritten_shared_memory(const CheckOutcome& check) {
  return check.broken == "no-uninitialised" &&
         check.message.find(" of shared memory that nothing ") != std::string::npos;
}

std::vector<std::string> topics_of_check(const CheckOutcome& check) {
  std::vector<std::string> topics;
  if (is_unwritten_shared_memory(check)) topics.emplace_back(kUnwrittenSharedMemory);
  for (const std::string& topic : {check.ended, check.broken, check.cause, check.step, check.id})
    if (!topic.empty()) topics.push_back(topic);
  return topics;
}

}  // namespace

std::string what_failed(const std::string& invariant, const Verdict& verdict) {
  if (verdict.finding) return words_for(*verdict.finding);
  const std::string& broken = verdict.broken_execution;
  const auto words = words_for_results().find(broken.empty() ? invariant : broken);
  return words == words_for_results().end() ? "It does not hold." : words->second;
}

std::string reading_of(const std::string& invariant, const Verdict& verdict) {
  const std::string& broken = verdict.broken_execution;
  if (broken.empty()) return reading_of_result(invariant, verdict);
  // What was never written the finding says itself; the reading is of runs that are compared.
  const std::string reading = broken == "writes-only-output" ? "" : find_invariant(broken).reading;
  return broken == invariant ? reading
                             : reading + (reading.empty() ? "" : " ") +
                                   "Mend this first: a wrong result is likely to come of it.";
}

std::vector<std::string> topics_of(const TrialOutcome& outcome) {
  for (const CheckOutcome& check : outcome.checks)
    if (check.failed()) return topics_of_check(check);
  std::vector<std::string> topics;
  const TransactionOutcome& transactions = outcome.transactions;
  if (!transactions.tried || transactions.held) return topics;
  for (const CountOutcome& count : transactions.counts)
    if (!count.held()) topics.push_back(count.name);
  topics.emplace_back("transactions");
  return topics;
}

std::vector<std::string> fitting_hints(const Lab& lab, const TrialOutcome& outcome) {
  std::vector<std::string> hints;
  if (outcome.untouched.empty())
    for (const std::string& topic : topics_of(outcome)) {
      const auto fits = [&](const LabHint& hint) {
        return std::find(hint.topics.begin(), hint.topics.end(), topic) != hint.topics.end();
      };
      const auto hint = std::find_if(lab.hints_for.begin(), lab.hints_for.end(), fits);
      if (hint == lab.hints_for.end()) continue;
      hints.push_back(hint->text);
      break;
    }
  hints.insert(hints.end(), lab.hints.begin(), lab.hints.end());
  return hints;
}

}  // namespace paged::labs
