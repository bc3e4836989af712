// What a stage declares about its floating-point arithmetic, so that bounds can be derived.
#pragma once
#include "reference/scalar_type.h"

namespace paged {

/// How an implementation computes attention: the types it rounds to and the length of its sums.
/// Sums are in f32 unless `products` says otherwise. From this and the data, error_bound.h derives
/// a bound for each element.
struct StageArithmetic {
  /// Partial sums of one q . k dot product, at least; each is a chain of head_size / lanes_per_dot
  /// products, at most, and they are added to each other in any order.
  int lanes_per_dot = 1;
  /// The products are dealt out and added as the thread groups of stage 2 do it (dot_order()); with
  /// lanes_per_dot 1, in one chain from the first dimension to the last.
  bool has_dot_order = false;
  /// Lanes that share the sum of the exponentials of one (sequence, head).
  int lanes_per_sum = 128;
  /// Warps that share one output element and take its pages in turn, each lane 16 bytes of tokens
  /// in the scalar's type, or a whole page if that is less (output_sum()). 0: one chain of all
  /// tokens.
  int warps_per_output = 0;
  /// Relative error of the exponential at x is (constant + slope * |x|) * 2^-23.
  /// CUDA's __expf: 2 + 1.173 |x| units in the last place (CUDA C++ Programming Guide, Intrinsic
  /// Functions).
  double exp_ulps_constant = 2.0;
  double exp_ulps_slope = 1.173;
  /// The exponential of 0 is 1 exactly, as PTX says of ex2.approx, and every library does.
  bool exp_of_zero_is_one = false;
  /// The logarithm is within a unit in the last place, as CUDA's logf is.
  bool has_precise_log = false;
  /// Exponentials are taken of logit - maximum. Without it, of the logit itself.
  bool subtracts_maximum = true;
  /// The denominator is sum + 1e-6 as the definition has it. Without it, the bare sum.
  bool guards_denominator = true;
  /// Long sequences are computed in partitions that a second softmax merges: another exponential,
  /// and another guard, for each weight.
  bool partitions = false;
  /// Type that probabilities are rounded to before they multiply values.
  ScalarType probabilities = ScalarType::f32;
  /// That type is the scalar's, whichever that is. Their products are in f32.
  bool rounds_probabilities_to_scalar = false;
  /// Type of their products with values. In f16, those of a 16-byte vector of values are added in
  /// f16, too, pair by pair in a chain; the halves of the last pair and all vectors in f32.
  ScalarType products = ScalarType::f32;
};

/// How the products of one q . k are dealt out: to lanes in turn, a vector of neighbours each time.
/// A lane adds each element of its vectors in a chain of its own, then those chains one after the
/// other; the lanes are added as a tree.
struct DotOrder {
  int lanes = 1;
  int vector = 1;  ///< elements
};
constexpr DotOrder dot_order(const StageArithmetic& arithmetic, ScalarType scalar, int block_size) {
  if (arithmetic.lanes_per_dot == 1) return {};
  const int lanes = block_size >= 32 ? 1 : 32 / block_size;
  const int vector = 16 / (lanes * static_cast<int>(size_in_bytes(scalar)));
  return {lanes, vector < 1 ? 1 : vector};
}

/// How the tokens of one output element are dealt out: to lanes in turn, in runs of neighbours.
/// Each lane adds its tokens in a chain, and the lanes' sums are added as a tree.
struct OutputSum {
  int lanes = 1;
  int run = 1;  ///< tokens
};
constexpr OutputSum output_sum(const StageArithmetic& arithmetic, ScalarType scalar,
                               int block_size) {
  if (arithmetic.warps_per_output == 0) return {};
  const int vector = 16 / static_cast<int>(size_in_bytes(scalar));
  const int run = vector < block_size ? vector : block_size;
  return {arithmetic.warps_per_output * (block_size / run), run};
}

/// The arithmetic where the call asks for probabilities of a type; f32 changes nothing.
constexpr StageArithmetic with_probabilities(StageArithmetic arithmetic, ScalarType type) {
  if (type != ScalarType::f32) arithmetic.probabilities = arithmetic.products = type;
  return arithmetic;
}

}  // namespace paged
