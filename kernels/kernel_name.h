// Kernels and their launches as people know them.
#pragma once
#include <cstddef>
#include <string>

namespace paged {

/// "_ZN5paged4cuda6kernelIfEEvPf" -> "kernel": without namespaces, template arguments, parameters.
std::string bare_kernel_name(const std::string& mangled);

/// "(x,y,z)", of a dim3 or a uint3: CUDA's or the CPU machine's.
template <typename Extent>
std::string text_of_extent(const Extent& extent) {
  return std::string("(") + std::to_string(extent.x) + "," + std::to_string(extent.y) + "," +
         std::to_string(extent.z) + ")";
}

/// "launch of kernel with grid (1,1,1), block (32,1,1), 0 bytes of dynamic shared memory"
template <typename Extent>
std::string text_of_launch(const std::string& kernel, const Extent& grid, const Extent& block,
                           std::size_t shared_bytes) {
  return "launch of " + kernel + " with grid " + text_of_extent(grid) + ", block " +
         text_of_extent(block) + ", " + std::to_string(shared_bytes) +
         " bytes of dynamic shared memory";
}

}  // namespace paged
