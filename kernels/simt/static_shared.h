// The bounds of __shared__ variables.
//
// They are thread-local variables of the program and lie side by side, those of all its kernels: an
// index that leaves one mostly lands in another. What the kernel may use is not known, since
// functions that it calls declare some, too. But an instruction of the kernel itself, with what was
// inlined into it, uses variables of one function: where it went first in a launch tells which.
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
  /// Whether the instruction has used a variable before: then it does not use dynamic shared memory.
  bool is_used_by(std::uintptr_t pc) const { return first_used_.contains(pc); }
  /// "right past the end of 'scratch' (16 bytes of static shared memory)", for an access out of
  /// bounds by an instruction that has used a variable before; else "".
  std::string describe(std::uintptr_t pc, std::uintptr_t address) const;

 private:
  CodeRange kernel_;
  /// By instructions of the kernel's own code.
  std::unordered_map<std::uintptr_t, ThreadLocalExtent> first_used_;
};

}  // namespace paged::simt
