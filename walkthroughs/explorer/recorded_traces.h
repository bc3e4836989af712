// Runs of stages as data of the interactive page.
#pragma once
#include "kernels/device.h"

#include <string>

namespace paged {

/// Traces of every stage over a list of types, page sizes and lengths, as JSON without blanks. What
/// its keys mean stands in recorded_traces.cpp.
std::string recorded_traces(Device& device);

}  // namespace paged
