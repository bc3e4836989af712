#include "kernels/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace paged {

namespace {

std::string demangle(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : mangled;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace

std::string bare_kernel_name(const std::string& mangled) {
  std::string text = demangle(mangled);
  erase_all(text, "(anonymous namespace)::");
  // "void paged::cuda::kernel<float>(float*)": what stands before the first bracket, after the
  // last "::" or space.
  const std::string name = text.substr(0, text.find_first_of("<("));
  return name.substr(name.find_last_of(": ") + 1);
}

}  // namespace paged
