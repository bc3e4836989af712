// Running a stage on a case and comparing it with the reference: what `paged run` and the tour do.
#pragma once
#include "tests/harness/case_builder.h"
#include "tests/harness/comparison.h"
#include "tests/harness/kernel_under_test.h"

#include <memory>
#include <string>
#include <vector>

namespace paged {

/// One stage on one case.
struct StageRun {
  int stage_number = 0;
  std::string stage;
  std::string case_name;
  std::string backend;
  Comparison comparison;            ///< passed is false also if there are faults
  std::vector<std::string> faults;  ///< findings of the CPU machine and the like
  DecodeOutputs outputs;
  std::string hint;  ///< about wasteful loads, one line; "" for none or if nobody asked
};

/// Whether a run's loads are counted, for a hint. Only checked kernels on the CPU machine are.
enum class LoadHints { no, yes };

/// Throws InputError if the stage cannot run the case.
StageRun run_on_case(KernelUnderTest& kernel, const Case& c, LoadHints hints = LoadHints::no);

/// The device of a backend. Throws InputError with the reason where there is none.
std::unique_ptr<Device> make_device(Backend backend);

}  // namespace paged
