// How many floating-point operations decode attention takes, from the shape of a call alone.
#pragma once
#include "stages/call_shape.h"

#include <cstdint>

namespace paged {

struct Stage;

/// Operations of each step: additions, subtractions, multiplications, divisions and exponentials,
/// one each, a fused multiply-add two.
struct Flops {
  std::uint64_t qk = 0;
  std::uint64_t softmax = 0;
  std::uint64_t pv = 0;
  std::uint64_t reduce = 0;  ///< of partitions, where there are any

  std::uint64_t total() const { return qk + softmax + pv + reduce; }
  friend bool operator==(const Flops&, const Flops&) = default;
};

/// What a stage's way of computing attention takes. For each query head and each token that takes
/// part, d being the head size:
///
///   QK       2 d   d products, d - 1 sums, and the scale
///   softmax  4     subtract the maximum, exponential, add to the sum, normalise; 3 where nothing is
///                  subtracted
///   PV       2 d   d products, d sums
///
/// and, where a sequence is cut into partitions, for each of its partitions 4 + 2 d: the weight (as
/// a token's: subtract, exponential, product, sum), d products, d sums. Normalising the output, d
/// once for each query head, belongs to that, too.
///
/// A formula, not a count: the CPU machine sees accesses, not arithmetic. It leaves out what is no
/// part of attention but of how it is done: conversions, comparisons, addresses, sums over lanes
/// and warps, slots that are masked; and the scales of 8-bit caches and ALiBi's biases, a few
/// operations a token.
Flops flops_of(const Stage& stage, const CallShape& call);

}  // namespace paged
