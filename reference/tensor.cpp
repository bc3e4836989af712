#include "reference/tensor.h"

#include "reference/element_types.h"
#include "reference/input_error.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace paged {
namespace {

// Calls visit with a zero of the C++ type that stores elements of `type`.
template <typename Visitor>
auto with_element_type(CacheType type, Visitor visit) {
  switch (type) {
    case CacheType::f32:
      return visit(float{});
    case CacheType::f16:
      return visit(f16{});
    case CacheType::bf16:
      return visit(bf16{});
    case CacheType::e4m3:
      return visit(e4m3{});
    case CacheType::e5m2:
      break;
  }
  return visit(e5m2{});
}

// Elements in a tensor of this shape; no extents at all mean one element.
std::int64_t count_elements(CacheType type, const std::vector<std::int64_t>& shape) {
  for (std::int64_t extent : shape)
    if (extent < 0)
      throw InputError("tensor of shape " + to_string(shape) + ": extent " +
                       std::to_string(extent) + " is negative");
  // An empty tensor may have extents whose product overflows on the way to the zero.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;

  auto bytes = static_cast<std::int64_t>(size_in_bytes(type));
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw InputError("tensor of shape " + to_string(shape) + " and type " +
                       std::string(name_of(type)) + ": its size exceeds 2^63 - 1 bytes");
  return bytes / static_cast<std::int64_t>(size_in_bytes(type));
}

}  // namespace

Tensor::Tensor(CacheType type, std::vector<std::int64_t> shape)
    : type_(type), shape_(std::move(shape)), size_(count_elements(type_, shape_)) {
  const std::size_t num_bytes = static_cast<std::size_t>(size_) * paged::size_in_bytes(type_);
  try {
    bytes_.resize(num_bytes);
  } catch (const std::bad_alloc&) {  // a shape that someone asked for, so their error, not ours
    throw InputError("tensor of shape " + to_string(shape_) + " and type " +
                     std::string(name_of(type_)) + ": its " + std::to_string(num_bytes) +
                     " bytes do not fit in memory");
  }
}

// Elements are copied in and out: the bytes promise no alignment and hold no objects of the types.
double Tensor::read(std::int64_t i) const {
  assert(0 <= i && i < size_);
  return with_element_type(type_, [&](auto element) {
    std::memcpy(&element, bytes_.data() + i * sizeof element, sizeof element);
    return to_double(element);
  });
}

void Tensor::write(std::int64_t i, double value) {
  assert(0 <= i && i < size_);
  with_element_type(type_, [&](auto element) {
    element = round_to<decltype(element)>(value);
    std::memcpy(bytes_.data() + i * sizeof element, &element, sizeof element);
  });
}

namespace {

// Calls visit(linear index, which of the values) for each element.
template <typename Visitor>
void for_each_element(ElementRuns elements, std::size_t count, std::int64_t size, Visitor visit) {
  assert(static_cast<std::int64_t>(count) % elements.run == 0);
  std::int64_t begin = elements.first;
  for (std::size_t i = 0; i < count; begin += elements.stride) {
    assert(0 <= begin && begin + elements.run <= size);
    for (std::int64_t k = 0; k < elements.run; ++k, ++i) visit(begin + k, i);
  }
}

}  // namespace

void Tensor::read(ElementRuns elements, std::span<double> values) const {
  with_element_type(type_, [&](auto element) {
    for_each_element(elements, values.size(), size_, [&](std::int64_t index, std::size_t i) {
      std::memcpy(&element, bytes_.data() + index * sizeof element, sizeof element);
      values[i] = to_double(element);
    });
  });
}

void Tensor::write(ElementRuns elements, std::span<const double> values) {
  with_element_type(type_, [&](auto element) {
    for_each_element(elements, values.size(), size_, [&](std::int64_t index, std::size_t i) {
      element = round_to<decltype(element)>(values[i]);
      std::memcpy(bytes_.data() + index * sizeof element, &element, sizeof element);
    });
  });
}

void Tensor::copy_element(std::int64_t i, const Tensor& from, std::int64_t j) {
  assert(type_ == from.type_ && 0 <= i && i < size_ && 0 <= j && j < from.size_);
  const std::size_t width = paged::size_in_bytes(type_);
  std::memmove(bytes_.data() + i * width, from.bytes_.data() + j * width, width);
}

void Tensor::fill(double value) {
  with_element_type(type_, [&](auto element) {
    element = round_to<decltype(element)>(value);
    for (std::int64_t i = 0; i < size_; ++i)
      std::memcpy(bytes_.data() + i * sizeof element, &element, sizeof element);
  });
}

std::string to_string(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace paged
