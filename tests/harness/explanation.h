// Invariants explained, with numbers that are computed for it.
#pragma once
#include "tests/harness/invariant.h"

#include <string>

namespace paged {

/// Everything there is to know about one invariant: statement, formula, how it is tried, what it
/// catches, how to read its failure, a worked example, and, where wrong arguments can make one, the
/// report of a failure. Lines of at most so many columns.
///
/// @param kernel  one that keeps the invariant, on the CPU machine
std::string explanation_of(const Invariant& invariant, KernelUnderTest& kernel,
                           std::size_t columns);

/// The same for all invariants as a page of Markdown: docs/invariants.md. Reports that are findings
/// are left out: they change with every edit of a kernel.
std::string page_of_invariants(KernelUnderTest& kernel);

/// What a kernel that breaks an invariant has reported.
struct FailureReport {
  std::string mistake;
  std::string case_name;
  std::string message;
  bool is_finding = false;  ///< names lines of source, which move, and threads, whose order varies
};
/// The report of a spoilt kernel; empty if there is none for the invariant.
FailureReport example_failure(const Invariant& invariant, Device& device);

}  // namespace paged
