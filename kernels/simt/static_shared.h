// The bounds of __shared__ variables.
//
// They are thread-local variables of the program and lie side by side, those of all its kernels: an
// index that leaves one mostly lands in another. What the kernel may use is not known, since
// functions that it calls declare some, too. But an instruction of the kernel itself, with what was
// inlined into it, uses variables of one function, or the dynamic shared memory: where it went
// first in a launch tells which.
#pragma once
#include "kernels/simt/program_symbols.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace paged::simt {

class StaticShared {
 public:
  void begin_launch(const void* kernel);

  /// The variable that an access by the instruction at pc (a return address) lies in. Its size is 0
  /// if the access is out of bounds.
  ThreadLocalExtent find(std::uintptr_t pc, std::uintptr_t address, std::size_t bytes);
  /// Whether an instruction that goes to the dynamic shared memory may: one that has used a
  /// variable before does not mean it, and one that has not does from here on.
  bool means_dynamic(std::uintptr_t pc, const ThreadLocalExtent& dynamic);
  /// Whether the instruction has used a variable before.
  bool means_variable(std::uintptr_t pc) const;
  /// "right past the end of 'scratch' (16 bytes of static shared memory)", for an access out of
  /// bounds by an instruction that has used shared memory before; else "".
  std::string describe(std::uintptr_t pc, std::uintptr_t address) const;

 private:
  CodeRange kernel_;
  /// By instructions of the kernel's own code.
  struct Meant {
    ThreadLocalExtent extent;
    bool dynamic;
  };
  bool is_in_kernel(std::uintptr_t pc) const { return pc - kernel_.begin < kernel_.size; }
  std::unordered_map<std::uintptr_t, Meant> first_used_;
};

}  // namespace paged::simt
