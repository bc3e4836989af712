// What `paged check` shows to people: a row for each invariant, then how to read what failed.
#pragma once
#include "tests/harness/check_run.h"

#include <iosfwd>
#include <vector>

namespace paged {

/// A row for each stage and invariant. The column `cases` is how many were tried; "1 of 19" where
/// trying was stopped on the way, as `not_tried` says.
void print_table(std::ostream& stream, const std::vector<CheckResult>& results,
                 const std::vector<NotTried>& not_tried);

/// Whose failures are shown whole.
enum class Whole {
  simplest,  ///< of each stage, the first invariant that fails; the others in a list
  each       ///< of each invariant
};

/// Of each stage, what came out otherwise than stated. One case of an invariant is shown: the first
/// with the likely cause that most have (of none, the first without), else the first. Nothing if all came out as stated. All are in the
/// JSON.
void print_failures(std::ostream& stream, const std::vector<CheckResult>& results, Whole whole);

/// A line for each reason why invariants, or some of their cases, were not tried.
void print_not_tried(std::ostream& stream, const std::vector<NotTried>& not_tried,
                     const std::vector<CasesLeftOut>& cases_left_out);

/// How many of a stage's cases were left out: those of types and sizes that it is not built for.
void print_left_out(std::ostream& stream, const Stage& stage,
                    const std::vector<CasesLeftOut>& cases_left_out);

}  // namespace paged
