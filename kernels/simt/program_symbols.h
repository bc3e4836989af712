// What the running program knows about itself: its image, its thread-local variables, its
// functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace paged::simt {

/// Addresses of the program's code, constants and global variables.
struct ProgramImage {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::uintptr_t bias = 0;  ///< subtracted from its addresses, it gives those in its file
};
const ProgramImage& program_image();

/// Symbols are read from this descriptor, which is closed then, and not from the program's path:
/// for processes that may open no file. Before the first question.
void set_program_file(int descriptor);

/// Addresses of the program's thread-local variables on the calling OS thread.
struct ThreadLocalImage {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
};
ThreadLocalImage thread_local_image();

/// A kernel's name without namespaces, template arguments and parameters; "kernel" if the program
/// has no symbols.
std::string kernel_name(const void* kernel);

/// Bytes of the __shared__ variables that a kernel declares, as far as the program's symbols tell:
/// those of functions that it calls, and those declared outside of functions, are not among them.
std::size_t static_shared_bytes(const void* kernel);

/// A thread-local variable of the program, which is what a __shared__ variable is here.
struct ThreadLocalVariable {
  std::string name;        ///< without namespaces and functions; "" if there is none
  std::size_t offset = 0;  ///< of the address, in bytes
};
/// The variable of the calling OS thread that an address lies in.
ThreadLocalVariable thread_local_variable_at(std::uintptr_t address);

/// Where a thread-local variable lies on the calling OS thread.
struct ThreadLocalExtent {
  std::uintptr_t begin = 0;
  std::size_t size = 0;     ///< bytes; 0 if there is none
  int function = 0;         ///< equal for variables that one function declares; 0: none does
  bool of_machine = false;  ///< none that a kernel declares
};
/// The variable that an address lies in. Without symbols, all that the program has are one.
ThreadLocalExtent thread_local_extent_at(std::uintptr_t address);

/// Where the variables lie that the other instances of its function template have in its place,
/// such as 'scratch' of sum<half> for that of sum<float>. None if no template declares it.
std::vector<ThreadLocalExtent> same_variable_of_other_instances(std::uintptr_t address);

/// Addresses of a function's code; size 0 if the program has no symbol for it.
struct CodeRange {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
};
CodeRange function_range(const void* address);

/// The part of a path after the last slash.
std::string base_name(const std::string& path);

}  // namespace paged::simt
