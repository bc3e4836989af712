// Normal numbers that are drawn once for many cases.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace paged {

/// The numbers that Random(seed).normal() gives one after the other, from any place on. Cases of
/// one seed begin with the same numbers, and drawing them takes longer than all else in making a
/// case: the first ones of the latest few seeds are kept, by each thread for itself. For the thread
/// that made it.
class NormalNumbers {
 public:
  explicit NormalNumbers(std::uint64_t seed);
  /// Numbers first, first + 1, ... as many as the span has.
  void copy(std::int64_t first, std::span<double> numbers) const;

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::vector<double>> kept_;  // a prefix, as long as anyone has asked for
};

}  // namespace paged
