// Tensors in NumPy's .npy files.
#pragma once
#include "reference/tensor.h"

#include <filesystem>
#include <optional>
#include <string>

namespace paged {

/// Reads a .npy file (format 1.0, 2.0 or 3.0, little endian, C order).
///
/// f32 and f16 have NumPy types of their own and are read as what they are. bf16 is stored as
/// uint16, and e4m3 and e5m2 as uint8: `as` says which type such bits mean.
/// Throws InputError naming the file and what is wrong with it: missing, not a .npy file, Fortran
/// order, an element type that is none of these, or shorter or longer than its shape.
Tensor read_npy(const std::filesystem::path& file, std::optional<CacheType> as = std::nullopt);

/// A tensor as the bytes of a .npy file, format 1.0.
std::string npy_of(const Tensor& tensor);

}  // namespace paged
