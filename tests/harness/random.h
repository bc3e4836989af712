// A small random generator whose numbers are the same on every machine and library.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace paged {

/// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014), with
/// the few distributions that inputs need. std::normal_distribution differs between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// As if bits() had been called `count` times.
  void skip(std::uint64_t count) { state_ += count * 0x9E3779B97F4A7C15U; }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// In 0 ... n-1; n >= 1.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(uniform() * n); }
  /// Mean 0, standard deviation 1 (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// 0 ... n-1 in random order (Fisher and Yates).
  std::vector<std::int32_t> permutation(std::int64_t n) {
    std::vector<std::int32_t> order(n);
    for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
    for (std::int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[below(i + 1)]);
    return order;
  }

 private:
  std::uint64_t state_;
};

}  // namespace paged
