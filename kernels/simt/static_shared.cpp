#include "kernels/simt/static_shared.h"

#include "kernels/simt/shared_memory.h"

namespace paged::simt {

void StaticShared::begin_launch(const void* kernel) {
  kernel_ = function_range(kernel);
  first_used_.clear();
}

ThreadLocalExtent StaticShared::find(std::uintptr_t pc, std::uintptr_t address, std::size_t bytes) {
  const ThreadLocalExtent variable = thread_local_extent_at(address);
  const bool inside = address - variable.begin < variable.size &&
                      bytes <= variable.size - (address - variable.begin);
  if (!inside || variable.of_machine) return {};
  if (!is_in_kernel(pc)) return variable;
  const auto [first, is_first] = first_used_.emplace(pc, Meant{variable, false});
  const Meant& meant = first->second;
  const bool same = !meant.dynamic && meant.extent.function == variable.function;
  return is_first || same ? variable : ThreadLocalExtent{};
}

bool StaticShared::means_dynamic(std::uintptr_t pc, const ThreadLocalExtent& dynamic) {
  if (!is_in_kernel(pc)) return true;
  return first_used_.emplace(pc, Meant{dynamic, true}).first->second.dynamic;
}

bool StaticShared::means_variable(std::uintptr_t pc) const {
  const auto first = first_used_.find(pc);
  return first != first_used_.end() && !first->second.dynamic;
}

std::string StaticShared::describe(std::uintptr_t pc, std::uintptr_t address) const {
  const auto first = first_used_.find(pc);
  if (first == first_used_.end()) return "";
  return place_beside(first->second.extent, address);
}

}  // namespace paged::simt
