#include "kernels/simt/shared_memory.h"

#include "kernels/simt/program_symbols.h"

thread_local unsigned char dynamic_shared[paged::simt::kMaxSharedBytes]
    __attribute__((aligned(1024)));

namespace paged::simt {

bool is_shared_memory(std::uintptr_t address) {
  static thread_local const ThreadLocalImage image = thread_local_image();
  return address - image.begin < image.size;
}

std::string place_in_shared_memory(std::uintptr_t address) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  if (address - dynamic < kMaxSharedBytes)
    return "byte " + std::to_string(address - dynamic) + " of the dynamic shared memory";
  const ThreadLocalVariable variable = thread_local_variable_at(address);
  return variable.name.empty()
             ? "shared memory"
             : "byte " + std::to_string(variable.offset) + " of '" + variable.name + "'";
}

}  // namespace paged::simt
