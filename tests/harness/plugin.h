// A kernel of somebody else's in a shared library, tried in processes of its own: whatever it does,
// it is reported, and the tool goes on. kernels/paged_decode.h says what such a library exports.
#pragma once
#include "stages/stage.h"
#include "tests/harness/check_run.h"
#include "tests/harness/isolated_process.h"
#include "tests/harness/stage_run.h"

#include <functional>
#include <string>
#include <vector>

namespace paged {

/// A library that was loaded once, in a process that is gone, and has described itself.
struct Plugin {
  std::string file;  ///< as it was asked for
  CallLimits limits;
  Backend backend = Backend::cpu;  ///< cuda: it takes pointers of a CUDA device
  Stage stage;                     ///< number 0; cannot be run here
};

/// Loads and describes it. Throws InputError, in one line that names the file: it is missing, no
/// shared library, lacks a function, has another version, describes what cannot be, needs a CUDA
/// device where there is none; or it crashed, hung or ended its process on the way.
Plugin load_plugin(const std::string& file, const CallLimits& limits);

/// What trying a library's kernel came to.
struct PluginCheck {
  std::vector<CheckResult> results;
  std::vector<NotTried> not_tried;
  std::vector<CasesLeftOut> cases_left_out;
};

/// Tries the invariants as run_checks() does. A crash, a call that doesn't return, exit(), an error
/// that the kernel returns and an exception that it throws are failed results; after one of the
/// first three, the other cases of that invariant are left out, and after three calls that did not
/// return, everything else. Ends with a FirstFailure where the request asks for it. Throws
/// InputError as plan_checks() does.
PluginCheck check_plugin(const Plugin& plugin, const CheckRequest& request,
                         const std::function<void(const PlannedTry&)>& trying = {});

/// Runs it on a case and compares it with the reference, as run_on_case() does. If its process
/// ended, that is a fault, and there are no outputs. Throws InputError if it does not support the
/// case.
StageRun run_plugin_on_case(const Plugin& plugin, const Case& c);

}  // namespace paged
