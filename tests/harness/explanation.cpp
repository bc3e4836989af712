#include "tests/harness/explanation.h"

#include "tests/harness/spoilt_kernel.h"
#include "tests/harness/wrapped_text.h"

namespace paged {
namespace {

std::string failure_heading(const FailureReport& report) {
  return "A failure, where " + report.mistake + " (" + report.case_name + ")";
}

const char* const kPageHead =
    R"(# The invariants

What every implementation of paged decode attention must keep, whoever wrote it and however it
computes. Each is an object in one file of [tests/harness/invariants](../tests/harness/invariants);
`paged check --invariant ID` tries it, `paged explain ID` shows what stands here, and `paged check
--first` stops at the first that fails. "Bit for bit" means that a difference of one bit is a
defect; a bound is the one that [error_bounds.md](error_bounds.md) derives.

The numbers are those of a run of the last stage on the CPU machine. This page is written by
`paged explain --markdown`; a test fails where the two differ.

)";

std::string markdown_of(const Invariant& invariant, KernelUnderTest& kernel) {
  std::string page = "## " + invariant.id + "\n\n" + wrapped(invariant.statement, 0) +
                     "\n```text\n" + wrapped(invariant.formula, 0) + "```\n\n";
  page += wrapped("**How it is tried:** " + invariant.method + ".", 0) + "\n";
  page += wrapped("**It catches** " + invariant.catches + ".", 0) + "\n";
  page += wrapped("**How to read its failure.** " + invariant.reading, 0) + "\n";
  page += "```text\n" + wrapped(invariant.example(kernel), 0) + "```\n\n";
  const FailureReport report = example_failure(invariant, kernel.device());
  if (!report.message.empty() && !report.is_finding)
    page += wrapped(failure_heading(report) + ":", 0) + "\n```text\n" + wrapped(report.message, 0) +
            "```\n\n";
  return page;
}

}  // namespace

FailureReport example_failure(const Invariant& invariant, Device& device) {
  for (const SpoiltKernel& spoilt : spoilt_kernels()) {
    if (spoilt.invariant != invariant.id) continue;
    KernelUnderTest kernel(spoilt.stage, device);
    for (const CaseSpec& spec : invariant.cases(ScalarType::f16, 1)) {
      const Case c = build_case(spec);
      if (!kernel.supports(c.problem)) continue;
      const Verdict verdict = try_invariant(invariant, kernel, c, 1);
      if (!verdict.held) return {spoilt.mistake, c.name, verdict.message, verdict.faulty};
    }
  }
  return {};
}

std::string explanation_of(const Invariant& invariant, KernelUnderTest& kernel,
                           std::size_t columns) {
  const auto section = [&](const std::string& title, const std::string& text) {
    return wrapped(title, 0, columns) + wrapped(text, 2, columns);
  };
  std::string text = section(invariant.id, invariant.statement) + "\n";
  text += section("Formula", invariant.formula);
  text += section("How it is tried", invariant.method);
  text += section("Catches", invariant.catches);
  text += section("How to read its failure", invariant.reading);
  text += "\n" + section("Worked example", invariant.example(kernel));
  const FailureReport report = example_failure(invariant, kernel.device());
  if (!report.message.empty()) text += "\n" + section(failure_heading(report), report.message);
  return text + "\n" +
         section("Try it", "paged check --invariant " + invariant.id +
                               " (with --kernel LIB.so a kernel of your own; with --first, up to "
                               "the first failure that is explained)");
}

std::string page_of_invariants(KernelUnderTest& kernel) {
  std::string page = kPageHead;
  page += "| id | statement |\n| --- | --- |\n";
  for (const Invariant& invariant : invariants())
    page += "| [" + invariant.id + "](#" + invariant.id + ") | " + invariant.statement + " |\n";
  page += "\n";
  for (const Invariant& invariant : invariants()) page += markdown_of(invariant, kernel);
  page.pop_back();  // one line end at the end
  return page;
}

}  // namespace paged
