// Where tests of this folder run kernels: every backend, and the CPU machine with and without its
// checker.
#pragma once
#include "stages/registry.h"
#include "tests/harness/stage_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

namespace paged {

/// A backend and, on the CPU, how its kernels are compiled.
struct ExecutionPlace {
  Backend backend;
  Checking checking;
};

inline constexpr ExecutionPlace kEveryPlace[] = {{Backend::cpu, Checking::checked},
                                                 {Backend::cpu, Checking::unchecked},
                                                 {Backend::cuda, Checking::checked}};

inline std::string name_of(const ExecutionPlace& place) {
  return std::string(name_of(place.backend)) +
         (place.checking == Checking::unchecked ? "_unchecked" : "");
}
inline void PrintTo(const ExecutionPlace& place, std::ostream* stream) {
  *stream << name_of(place);
}

/// "" if there is a device for the place, else why not.
inline std::string why_no_device(const ExecutionPlace& place) {
  return place.backend == Backend::cuda ? why_no_cuda_device() : "";
}

/// Fails the test for everything that checked execution has found.
inline void expect_no_findings(Device& device) {
  for (const Finding& finding : device.take_findings()) ADD_FAILURE() << to_string(finding);
}

}  // namespace paged
