// A shared library with a kernel, in the process that calls it. Nothing here is safe from it: see
// plugin.h.
#pragma once
#include "kernels/device.h"
#include "kernels/paged_decode.h"
#include "stages/stage.h"
#include "tests/harness/isolated_process.h"

#include <cstddef>
#include <string>

namespace paged {

/// The functions that a library exports.
struct PluginLibrary {
  decltype(&paged_kernel_describe) describe = nullptr;
  decltype(&paged_kernel_run) run = nullptr;
  decltype(&paged_kernel_workspace) workspace = nullptr;    ///< or null
  decltype(&paged_kernel_error_text) error_text = nullptr;  ///< or null
};

/// Loads a library and looks its functions up. Throws InputError, in one line, if it cannot be
/// loaded or lacks a function.
PluginLibrary open_library(const std::string& file);

/// Texts of a description, copied, and cut after 1000 bytes.
struct DescriptionTexts {
  std::string name, promises, breaks;
  bool has_promises = false;
};

/// Calls paged_kernel_describe(). Throws InputError if it returns nothing, another version or no
/// name. The texts of the returned description must not be used: they belong to the library.
paged_kernel_description describe(const PluginLibrary& library, DescriptionTexts& texts);

/// The stage with the functions of a library: it can be run in this process from here on, on this
/// device. A process can have one. The parent is told when calls begin and end. Running throws
/// DeviceError for an error that the kernel returns, for an exception that it throws, and for a
/// workspace of more than so many bytes, unless they are 0.
Stage runnable(Stage stage, const PluginLibrary& library, Device& device, ParentLine& line,
               std::size_t most_workspace_bytes);

}  // namespace paged
