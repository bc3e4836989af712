// From what a library says about itself to a stage.
#pragma once
#include "tests/harness/plugin_library.h"

namespace paged {

/// A stage, number 0, that says what the library says; it cannot be run. Throws InputError for a
/// description that cannot be: it names the field, the value and the limit.
Stage stage_described_by(const paged_kernel_description& description,
                         const DescriptionTexts& texts);

}  // namespace paged
