// A tensor in host memory: type, shape, bytes.
#pragma once
#include "reference/scalar_type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace paged {

/// Elements of a tensor that lie in runs: `run` neighbours from `first` on, as many from
/// `first + stride` on, and so forth.
struct ElementRuns {
  std::int64_t first;
  std::int64_t run;
  std::int64_t stride;
};

/// A row-major tensor whose element type is known at run time. Elements are addressed by their
/// linear index; read() and write() convert, so that host code has one way to touch any type.
class Tensor {
 public:
  Tensor() = default;  ///< no shape and no elements
  /// All elements zero. Every extent >= 0; no extents at all mean one element. Throws InputError
  /// for a negative extent, a size of 2^63 bytes or more, and one that does not fit in memory.
  Tensor(CacheType type, std::vector<std::int64_t> shape);

  CacheType type() const { return type_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t size() const { return size_; }  ///< number of elements
  std::size_t size_in_bytes() const { return bytes_.size(); }
  std::byte* data() { return bytes_.data(); }
  const std::byte* data() const { return bytes_.data(); }

  /// Exact value of element i, 0 <= i < size().
  double read(std::int64_t i) const;
  /// Stores the element nearest to value (see round_to).
  void write(std::int64_t i, double value);
  /// The same for as many elements as the span has, a multiple of a run: quicker than one by one.
  void read(ElementRuns elements, std::span<double> values) const;
  void write(ElementRuns elements, std::span<const double> values);
  /// Copies element j of `from` to element i, bit for bit. Types must be equal.
  void copy_element(std::int64_t i, const Tensor& from, std::int64_t j);
  /// Sets every element to the one nearest to value.
  void fill(double value);

 private:
  CacheType type_ = CacheType::f32;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  std::vector<std::byte> bytes_;
};

/// "[2, 8, 128]"
std::string to_string(const std::vector<std::int64_t>& shape);

}  // namespace paged
