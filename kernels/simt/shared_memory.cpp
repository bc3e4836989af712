#include "kernels/simt/shared_memory.h"

// The guard and the memory are one variable, since the linker may put others between two; the name
// that kernels know is that of its second part.
extern "C" {
thread_local unsigned char
    paged_guarded_shared[paged::simt::kGuardedSharedBytes + paged::simt::kMaxSharedBytes]
    __attribute__((aligned(1024)));
}
asm(".globl dynamic_shared\n"
    ".type dynamic_shared, @tls_object\n"
    ".set dynamic_shared, paged_guarded_shared + 16384\n"
    ".size dynamic_shared, 232448\n");
static_assert(paged::simt::kGuardedSharedBytes == 16384 && paged::simt::kMaxSharedBytes == 232448);

namespace paged::simt {

bool is_shared_memory(std::uintptr_t address) {
  static thread_local const ThreadLocalImage image = thread_local_image();
  return address - image.begin < image.size;
}

std::string place_in_shared_memory(std::uintptr_t address) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_shared);
  if (address - dynamic < kMaxSharedBytes || dynamic - address <= kGuardedSharedBytes)
    return "byte " + std::to_string(static_cast<std::intptr_t>(address - dynamic)) +
           " of the dynamic shared memory";
  const ThreadLocalVariable variable = thread_local_variable_at(address);
  return variable.name.empty()
             ? "shared memory"
             : "byte " + std::to_string(variable.offset) + " of '" + variable.name + "'";
}

std::string place_beside(const ThreadLocalExtent& variable, std::uintptr_t address) {
  const std::uintptr_t end = variable.begin + variable.size;
  std::string where;
  if (address == end)
    where = "right past the end of ";
  else if (address > end)
    where = std::to_string(address - end) + " bytes past the end of ";
  else if (address >= variable.begin)
    where = "across the end of ";
  else
    where = std::to_string(variable.begin - address) + " bytes before ";
  const std::string bytes = " (" + std::to_string(variable.size) + " bytes";
  return variable.begin == reinterpret_cast<std::uintptr_t>(dynamic_shared)
             ? where + "the dynamic shared memory" + bytes + ")"
             : where + "'" + thread_local_variable_at(variable.begin).name + "'" + bytes +
                   " of static shared memory)";
}

}  // namespace paged::simt
