// The harness against one mutant: which invariant catches it first, on which case.
#pragma once
#include "tests/harness/invariant.h"
#include "tests/mutants/mutant.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// What a fault of a run (kernel_under_test.h) counts as: "no-race", "no-uninitialised",
/// "in-bounds", "no-barrier-divergence", or "writes-only-output" for damage and missing writes.
std::string finding_id(const std::string& fault);

/// How an implementation was caught, or that it was not.
struct Catch {
  std::string caught_by;  ///< id of an invariant or a finding; "": not caught
  std::string invariant;  ///< that was tried when it was
  std::string case_name;
  std::string family;  ///< of the case's keys
  std::string message;
  int cases = 0;  ///< tried until then, the one that caught it included
};

/// The cases of all invariants that mutants can be built for, made once; or one case for all.
class HuntingGround {
 public:
  explicit HuntingGround(std::uint64_t seed = 1, std::optional<CaseSpec> only_case = {})
      : seed_(seed), only_case_(std::move(only_case)) {}

  bool has_one_case() const { return only_case_.has_value(); }
  /// Tries the stage's invariants in their order until one fails, or only `only`.
  Catch hunt(const Stage& stage, Device& device, const std::string& only = "");

  /// Whether a stage keeps an invariant on one of its cases; nothing if it is not built for it.
  std::optional<bool> keeps(const Stage& stage, Device& device, const std::string& invariant,
                            const std::string& case_name);
  /// Calls `visit` for each case of an invariant that a kernel supports, until it says false.
  void for_each_case(const Invariant& invariant, const KernelUnderTest& kernel,
                     const std::function<bool(const Case& c, std::uint64_t seed)>& visit);

 private:
  struct HuntingCase {
    Case built;
    std::string family;
  };
  const std::vector<HuntingCase>& cases_of(const Invariant& invariant);

  std::uint64_t seed_;
  std::optional<CaseSpec> only_case_;
  std::map<std::string, std::vector<HuntingCase>> cases_;
};

/// How often something was said of a mutant's wrong results, and what in the first case.
struct Said {
  int cases = 0;
  std::string example;
};

/// The likely causes that the recovered weights of wrong results, and statistics, point at.
struct NamedCauses {
  std::map<std::string, Said> causes;  ///< by id
  Said ambiguous;                      ///< several mistakes, of different ids, explain them
  Said unexplained;                    ///< weights are wrong, and nothing explains them
};

/// The outcome for one mutant.
struct HuntResult {
  Mutant mutant;
  Catch first;
  Catch meant;  ///< by the invariant that is there for it, if another one was first
  NamedCauses causes;
  std::string complaint;  ///< "" if it went as its description says, else what did not
};

/// The stage of a mutant, which says what it is compiled for.
Stage stage_of(const Mutant& mutant);

/// Hunts a mutant and compares with its description. With `only`, no other invariant is tried.
/// Then, and on one case alone, nothing is asked but that it is caught.
HuntResult hunt_mutant(const Mutant& mutant, HuntingGround& ground, Device& device,
                       const std::string& only = "");

}  // namespace paged
