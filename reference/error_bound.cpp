#include "reference/error_bound.h"

#include "reference/cache_layout.h"
#include "reference/dot_product_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace paged {
namespace {

/// Unit roundoff of f32: one rounding changes a value by at most this share of it.
constexpr double kUnit = 0x1p-24;

/// Half the spacing of f32's subnormals, rounded up: what a tiny result may lose in one operation.
constexpr double kSubnormal = 0x1p-149;

/// A relative error this large means "anything goes"; infinity times a weight of 0 would be NaN.
constexpr double kAnything = 1e30;

/// Bound on the relative error after n roundings (Higham, lemma 3.1).
double gamma(double n) { return n * kUnit / (1 - n * kUnit); }

/// Additions that round on the way of one term when `lanes` take n terms in turn, `run` at a time:
/// a chain in each lane, then a tree. Never more than there are other terms: adding zero is exact.
double additions(double n, int lanes, int run = 1) {
  const double on_the_way = std::ceil(std::ceil(n / run) / lanes) * run +
                            std::ceil(std::log2(static_cast<double>(lanes)));
  return std::min(on_the_way, std::max(n - 1, 0.0));
}

/// Relative and absolute error of one rounding to a storage type.
struct Rounding {
  double relative;
  double absolute;  ///< half the spacing of the subnormals
};

Rounding rounding_to(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return {0x1p-11, 0x1p-25};
    case ScalarType::bf16:
      return {0x1p-8, 0x1p-134};
    default:
      return {0, 0};  // sums are in f32 already
  }
}

/// Bound on the relative error that multiplying values in a type and adding the products of one
/// vector in it makes: a product and the additions of its pairs, of which an f16 vector has 4.
double bound_products(ScalarType type) {
  const double unit = rounding_to(type).relative;
  const double roundings = 1 + (16.0 / static_cast<double>(size_in_bytes(type)) / 2 - 1);
  return roundings * unit / (1 - roundings * unit);
}

/// Bound on the error of scale * k_scale * (q . k) of each token. [seq_len]
Eigen::VectorXd bound_scaled_dots(const DecodeProblem& problem, const GatheredKv& kv,
                                  const StageArithmetic& arithmetic, int seq, int head) {
  const std::int64_t first =
      (static_cast<std::int64_t>(seq) * problem.num_heads + head) * problem.head_size;
  Eigen::VectorXd query(problem.head_size);
  for (int dim = 0; dim < problem.head_size; ++dim) query[dim] = problem.query.read(first + dim);

  const double scale = std::abs(problem.scale);
  const double scalings = is_fp8(problem.cache()) ? 2 : 1;
  Eigen::VectorXd bound(kv.keys.rows());
  for (int token = 0; token < bound.size(); ++token) {
    const Eigen::VectorXd products = kv.keys.row(token).transpose().cwiseProduct(query);
    if (arithmetic.has_dot_order) {
      const double dot =
          bound_dot_product(products, dot_order(arithmetic, problem.scalar, problem.block_size));
      bound[token] = scale * (dot + gamma(scalings) * (std::abs(products.sum()) + dot));
    } else {
      // In any order: each product is rounded once, then come the additions of its partial sum and
      // those of the partial sums, then the scales.
      const double lanes = arithmetic.lanes_per_dot;
      const double roundings = 1 + std::ceil(problem.head_size / lanes) + (lanes - 1) + scalings;
      bound[token] = gamma(roundings) * scale * products.cwiseAbs().sum();
    }
  }
  return bound;
}

/// Bound on |computed logit - logit| for each token that takes part; 0 for the others.
Eigen::VectorXd bound_logits(const DecodeProblem& problem, const GatheredKv& kv,
                             const HeadAttention& attention, const StageArithmetic& arithmetic,
                             int seq, int head) {
  Eigen::VectorXd bound = bound_scaled_dots(problem, kv, arithmetic, seq, head);
  // A product, or a scaled sum, that is subnormal may lose half a spacing of the subnormals besides.
  const double scale = std::abs(problem.scale) * (is_fp8(problem.cache()) ? problem.k_scale : 1.0F);
  bound.array() += kSubnormal * (1 + problem.head_size * scale);
  if (!problem.alibi_slopes.empty()) {
    const int last = problem.seq_lens[seq] - 1;
    // One product and one addition; somebody else's order may scale the bias besides.
    const double products = arithmetic.has_dot_order ? 1 : 2;
    for (int token = 0; token <= last; ++token)
      bound[token] += products * kUnit * std::abs(problem.alibi_slopes[head] * (token - last)) +
                      kUnit * (std::abs(attention.logits[token]) + bound[token]);
  }
  for (int token = 0; token < bound.size(); ++token)
    if (std::isinf(attention.logits[token])) bound[token] = 0;
  return bound;
}

/// The token whose computed logit is the maximum, whatever the errors; -1 if it could be several.
int clear_maximum(const HeadAttention& attention, const Eigen::VectorXd& logits) {
  Eigen::Index greatest = 0;
  attention.logits.maxCoeff(&greatest);
  const double least = attention.logits[greatest] - logits[greatest];
  for (Eigen::Index token = 0; token < logits.size(); ++token)
    if (token != greatest && attention.logits[token] + logits[token] >= least) return -1;
  return static_cast<int>(greatest);
}

/// Bound on |computed maximum - maximum|: how far errors of the logits can raise the greatest, or
/// lower all that could take its place.
double bound_maximum(const HeadAttention& attention, const Eigen::VectorXd& logits) {
  const double greatest = (attention.logits + logits).maxCoeff();
  const double least = (attention.logits - logits).maxCoeff();
  return std::max(greatest - attention.maximum, attention.maximum - least);
}

/// Bound on the relative error of each computed exponential, up to a factor that all share.
///
/// @param maximum      clear_maximum()
/// @param shift_error  error of what is subtracted, to be counted for all but `maximum`: 0 where a
///                     factor that all share does no harm
Eigen::VectorXd bound_exponentials(const HeadAttention& attention, const Eigen::VectorXd& logits,
                                   const StageArithmetic& arithmetic, int maximum,
                                   double shift_error) {
  Eigen::VectorXd bound = Eigen::VectorXd::Zero(logits.size());
  const double maximum_error = logits.maxCoeff();
  const bool is_exact = arithmetic.exp_of_zero_is_one && arithmetic.subtracts_maximum;
  for (int token = 0; token < logits.size(); ++token) {
    if (attention.weights[token] == 0) continue;
    const double shift = arithmetic.subtracts_maximum ? attention.maximum : 0.0;
    const double argument = std::abs(attention.logits[token] - shift) + logits[token] +
                            (arithmetic.subtracts_maximum ? maximum_error : 0.0);
    const double argument_error =
        logits[token] + shift_error + (arithmetic.subtracts_maximum ? kUnit * argument : 0.0);
    if (is_exact && token == maximum) {  // exp(0), of the computed maximum
      bound[token] = shift_error > 0 ? 0 : std::expm1(logits[token]);
      continue;
    }
    // The arguments of a partition's two exponentials add up to the one; their constants are two,
    // with a subtraction and a product more.
    const double constant = (arithmetic.partitions ? 2 : 1) * arithmetic.exp_ulps_constant +
                            (arithmetic.partitions ? 1 : 0);
    const double function_error = (constant + arithmetic.exp_ulps_slope * argument) * 2 * kUnit;
    bound[token] =
        std::min(std::expm1(argument_error) * (1 + function_error) + function_error, kAnything);
  }
  return bound;
}

/// Share of the result that a missing or shifted denominator guard changes.
double guard_error(const HeadAttention& attention, double maximum_error,
                   const StageArithmetic& arithmetic) {
  const double guard = kDenominatorGuard / attention.sum;
  if (!arithmetic.guards_denominator) return guard;
  // A guard beside a sum of exp(logit) weighs exp(-maximum) of what it should.
  if (!arithmetic.subtracts_maximum)
    return std::min(guard * std::abs(std::expm1(-attention.maximum)), kAnything);
  return std::min(guard * std::expm1(maximum_error), kAnything);
}

/// Without a token that takes part, the zeros are exact.
HeadErrorBound no_error(const HeadAttention& attention) {
  HeadErrorBound bound;
  bound.logits = Eigen::VectorXd::Zero(attention.logits.size());
  bound.output = Eigen::VectorXd::Zero(attention.output.size());
  return bound;
}

/// Relative errors of a sum of exponentials, up to a factor that all of them share.
struct SumErrors {
  double exponentials;
  double additions;
  double lost;  ///< by underflow
  double all() const { return exponentials + additions + lost; }
};

/// Bounds of maximum, sum and LSE.
void bound_statistics(const HeadAttention& attention, const StageArithmetic& arithmetic,
                      const SumErrors& errors, int clear, HeadErrorBound& bound) {
  const ExpectedStatistics expected = expected_statistics(attention, arithmetic);
  // The logarithm turns the relative error of the sum into an absolute one; then it is rounded, and
  // so is the addition of the maximum.
  const double relative = errors.all();
  const double logarithm =
      arithmetic.has_precise_log
          ? 2 * kUnit * std::abs(std::log(expected.sum)) + kUnit * std::abs(attention.lse)
          : 4 * kUnit * (1 + std::abs(attention.lse) + std::abs(attention.maximum));
  bound.lse = relative < 1 ? (logarithm - std::log1p(-relative)) * (1 + 4 * kUnit)
                           : std::numeric_limits<double>::infinity();
  if (arithmetic.subtracts_maximum) bound.maximum = bound_maximum(attention, bound.logits);
  // The sum itself has the error of what was subtracted besides, in all terms but the greatest,
  // which is exp(0).
  if (arithmetic.exp_of_zero_is_one && arithmetic.subtracts_maximum && clear >= 0) {
    const Eigen::VectorXd exponentials =
        bound_exponentials(attention, bound.logits, arithmetic, clear, bound.logits[clear]);
    const double moved = attention.weights.dot(exponentials) * (1 + kDenominatorGuard);
    bound.sum = expected.sum * (moved + (1 + moved) * errors.additions + errors.lost);
  } else {
    bound.sum = expected.sum * (std::expm1(bound.maximum) * (1 + relative) + relative);
  }
}

/// What the values of one dimension come to, over all tokens that take part.
struct ValueSums {
  double moved = 0;      ///< sum of weight * relative error * distance from the mean
  double distance = 0;   ///< sum of distances from the mean
  double magnitude = 0;  ///< sum of weight * |value|
  double size = 0;       ///< sum of |value|
  double largest = 0;    ///< greatest distance from the mean
};

/// Values as rows of a matrix, for tokens first, first + 1, ...
class GatheredValues {
 public:
  GatheredValues(const Eigen::MatrixXd& values, int first, const HeadAttention& attention,
                 const Eigen::VectorXd& exponentials)
      : values_(values), first_(first), attention_(attention), exponentials_(exponentials) {}

  ValueSums operator()(int dim) const {
    const double mean = attention_.output[dim];
    ValueSums sums;
    for (int token = 0; token < attention_.logits.size(); ++token) {
      if (std::isinf(attention_.logits[token])) continue;
      const double value = values_(first_ + token, dim);
      const double distance = std::abs(value - mean);
      sums.moved += attention_.weights[token] * exponentials_[token] * distance;
      sums.distance += distance;
      sums.magnitude += attention_.weights[token] * std::abs(value);
      sums.size += std::abs(value);
      sums.largest = std::max(sums.largest, distance);
    }
    return sums;
  }

 private:
  const Eigen::MatrixXd& values_;
  int first_;
  const HeadAttention& attention_;
  const Eigen::VectorXd& exponentials_;
};

/// Unit vectors: each token's value is `unit` in one dimension, and 0 in all others. So tokens are
/// counted once, not once for each dimension.
class UnitValues {
 public:
  UnitValues(const std::vector<int>& dims, double unit, const HeadAttention& attention,
             const Eigen::VectorXd& exponentials)
      : unit_(unit), attention_(attention), of_dim_(attention.output.size()) {
    for (int token = 0; token < attention.logits.size(); ++token) {
      if (std::isinf(attention.logits[token])) continue;
      const double weight = attention.weights[token];
      for (Tokens* tokens : {&all_, &of_dim_[dims[token]]}) {
        tokens->count += 1;
        tokens->weight += weight;
        tokens->moved += weight * exponentials[token];
      }
    }
  }

  ValueSums operator()(int dim) const {
    const Tokens& ones = of_dim_[dim];
    const double mean = attention_.output[dim];
    const double to_one = std::abs(unit_ - mean), to_zero = std::abs(mean);
    const double zeros = all_.count - ones.count;
    ValueSums sums;
    sums.moved = ones.moved * to_one + std::max(all_.moved - ones.moved, 0.0) * to_zero;
    sums.distance = ones.count * to_one + zeros * to_zero;
    sums.magnitude = ones.weight * std::abs(unit_);
    sums.size = ones.count * std::abs(unit_);
    sums.largest = std::max(ones.count > 0 ? to_one : 0, zeros > 0 ? to_zero : 0);
    return sums;
  }

 private:
  struct Tokens {
    double count = 0, weight = 0, moved = 0;
  };
  double unit_;
  const HeadAttention& attention_;
  Tokens all_;
  std::vector<Tokens> of_dim_;
};

/// The bounds that follow from those of the logits.
///
/// @param values_with  what the values come to, of the exponentials' errors: a ValueSums of each
///                     dimension
template <typename Values>
HeadErrorBound bound_softmax(const DecodeProblem& problem, const HeadAttention& attention,
                             Eigen::VectorXd logits, const StageArithmetic& arithmetic,
                             ScalarType output_type, const Values& values_with) {
  const auto tokens = attention.logits.size();
  const auto head_size = attention.output.size();
  HeadErrorBound bound;
  bound.output = Eigen::VectorXd::Zero(head_size);
  bound.logits = std::move(logits);
  const int clear = clear_maximum(attention, bound.logits);
  const Eigen::VectorXd exponentials =
      bound_exponentials(attention, bound.logits, arithmetic, clear, 0);
  const double mean_error = attention.weights.dot(exponentials);
  const double sum_error =
      gamma(std::min((arithmetic.partitions ? 2 : 1) *
                         additions(static_cast<double>(tokens), arithmetic.lanes_per_sum),
                     static_cast<double>(tokens - 1)));
  const double maximum_error = bound.logits.maxCoeff();

  // Guard, reciprocal and product: an addition, a division of up to 2 units in the last place, a
  // multiplication.
  constexpr double kNormaliseRoundings = 6;
  const double common_error =
      sum_error + gamma(kNormaliseRoundings) + guard_error(attention, maximum_error, arithmetic);
  const OutputSum dealt = output_sum(arithmetic, problem.scalar, problem.block_size);
  const double chain = 1 + additions(static_cast<double>(tokens), dealt.lanes, dealt.run) +
                       (is_fp8(problem.cache()) ? 1 : 0);
  const Rounding probability = rounding_to(
      arithmetic.rounds_probabilities_to_scalar ? problem.scalar : arithmetic.probabilities);
  const Rounding product = rounding_to(arithmetic.products);
  const double products = bound_products(arithmetic.products);
  // Partitions normalise each with a guard and roundings of its own, and a sum of at least 1 (its
  // greatest exponential): unlike the common ones, these errors differ from token to token. Then
  // the outputs of the partitions are weighed and added in a chain.
  const double merged = std::ceil(static_cast<double>(tokens) / problem.partition_size);
  const double partition_error =
      arithmetic.partitions ? 2 * kDenominatorGuard + gamma(kNormaliseRoundings + 1 + merged) : 0;
  const double chain_error =
      (1 + gamma(chain)) * (1 + probability.relative) * (1 + products) * (1 + partition_error) - 1;
  const Rounding output = rounding_to(output_type);
  // Exponentials that underflow lose at most one subnormal of f32 each.
  const double shift = arithmetic.subtracts_maximum ? 0.0 : attention.maximum;
  const double lost = 0x1p-149 * std::exp(std::min(-shift, 700.0)) / attention.sum;

  const double participants = static_cast<double>(
      (attention.logits.array().abs() != std::numeric_limits<double>::infinity()).count());
  const auto values = values_with(exponentials);
  for (int dim = 0; dim < head_size; ++dim) {
    const double exact = attention.output[dim];
    const ValueSums sums = values(dim);
    const double moved = sums.moved + lost * sums.distance;
    const double absolute =
        ((probability.absolute + 0x1p-149) * sums.size + product.absolute * participants) *
            (1 + products) +
        kSubnormal * participants;
    // Exactly: sum w (1+r) v / sum w (1+r) - sum w v = sum w r (v - mean) / (1 + sum w r).
    const double reweighted =
        mean_error < 1 ? std::min(moved / (1 - mean_error), sums.largest) : sums.largest;
    const double before_rounding = reweighted + absolute + std::abs(exact) * common_error +
                                   sums.magnitude * chain_error * (1 + mean_error + common_error);
    bound.output[dim] =
        before_rounding + output.absolute + output.relative * (std::abs(exact) + before_rounding);
  }
  bound_statistics(attention, arithmetic,
                   {mean_error, sum_error, lost * static_cast<double>(tokens)}, clear, bound);
  return bound;
}

}  // namespace

ExpectedStatistics expected_statistics(const HeadAttention& attention,
                                       const StageArithmetic& arithmetic) {
  if (arithmetic.subtracts_maximum) return {attention.maximum, attention.sum};
  return {0, std::exp(attention.lse)};
}

HeadErrorBound bound_error(const DecodeProblem& problem, const GatheredKv& kv,
                           const HeadAttention& attention, const StageArithmetic& arithmetic,
                           int seq, int head) {
  if (attention.sum == 0) return no_error(attention);
  return bound_softmax(problem, attention,
                       bound_logits(problem, kv, attention, arithmetic, seq, head), arithmetic,
                       problem.scalar, [&](const Eigen::VectorXd& exponentials) {
                         return GatheredValues(kv.values, 0, attention, exponentials);
                       });
}

HeadErrorBound bound_unit_value_error(const DecodeProblem& problem, const GatheredKv& kv,
                                      const HeadAttention& attention,
                                      const StageArithmetic& arithmetic, int seq, int head,
                                      const std::vector<int>& dims, double unit) {
  if (attention.sum == 0) return no_error(attention);
  return bound_softmax(problem, attention,
                       bound_logits(problem, kv, attention, arithmetic, seq, head), arithmetic,
                       problem.scalar, [&](const Eigen::VectorXd& exponentials) {
                         return UnitValues(dims, unit, attention, exponentials);
                       });
}

HeadErrorBound bound_partition_error(const DecodeProblem& problem, const GatheredKv& kv,
                                     const HeadAttention& partition, const HeadErrorBound& whole,
                                     const StageArithmetic& arithmetic, int first) {
  if (partition.sum == 0) return no_error(partition);
  StageArithmetic within = arithmetic;
  within.partitions = false;  // nothing is merged yet
  return bound_softmax(problem, partition, whole.logits.segment(first, partition.logits.size()),
                       within, ScalarType::f32, [&](const Eigen::VectorXd& exponentials) {
                         return GatheredValues(kv.values, first, partition, exponentials);
                       });
}

}  // namespace paged
