// Kernel names as people know them.
#pragma once
#include <string>

namespace paged {

/// "_ZN5paged4cuda6kernelIfEEvPf" -> "kernel": without namespaces, template arguments, parameters.
std::string bare_kernel_name(const std::string& mangled);

}  // namespace paged
