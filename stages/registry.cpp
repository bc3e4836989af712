#include "stages/registry.h"

#include "reference/input_error.h"
#include "stages/backend_stages.h"

#include <string>

#if !PAGED_HAS_CUDA
namespace paged::cuda {
std::span<const Stage> stages() { return {}; }
}  // namespace paged::cuda
#endif

namespace paged {

std::span<const Stage> stages(Backend backend, Checking checking) {
  if (backend == Backend::cuda) return cuda::stages();
  return checking == Checking::checked ? cpu_checked::stages() : cpu_unchecked::stages();
}

const Stage& find_stage(std::string_view number_or_name, Backend backend, Checking checking) {
  std::string known;
  for (const Stage& stage : stages(backend, checking)) {
    if (number_or_name == stage.name || number_or_name == std::to_string(stage.number))
      return stage;
    known += (known.empty() ? "" : ", ") + std::to_string(stage.number) + " " + stage.name;
  }
  throw InputError("there is no stage '" + std::string(number_or_name) + "' for the " +
                   name_of(backend) + " backend; there is: " + (known.empty() ? "none" : known));
}

}  // namespace paged
