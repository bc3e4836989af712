// The ids of likely causes: scripts, the zoo and hints of labs rely on them.
#pragma once
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace paged {

/// All there are. likely_cause.h says what a cause is; docs/mutants.md, which mistakes have which.
inline constexpr std::string_view kCauseIds[] = {"accumulator-not-rescaled",
                                                 "added-repeatedly",
                                                 "address-order",
                                                 "alibi-missing",
                                                 "alibi-position",
                                                 "alibi-sign",
                                                 "alibi-slope",
                                                 "base-of-exponential",
                                                 "coarse-accumulator",
                                                 "denominator",
                                                 "dimensions-lost",
                                                 "dimensions-mixed",
                                                 "dimensions-overwritten",
                                                 "dimensions-unwritten",
                                                 "empty-divided",
                                                 "foreign-block",
                                                 "fp8-codes",
                                                 "guard",
                                                 "k-scale",
                                                 "key-layout",
                                                 "key-strides",
                                                 "keys-ignored",
                                                 "last-token-dropped",
                                                 "length-of-longest",
                                                 "logits-in-f16",
                                                 "lse-in-base-2",
                                                 "lse-of-one-partition",
                                                 "lse-unwritten",
                                                 "lse-without-maximum",
                                                 "lse-without-sum",
                                                 "maximum",
                                                 "negative-weight",
                                                 "not-a-number",
                                                 "not-rescaled",
                                                 "nothing-weighs",
                                                 "one-token-too-many",
                                                 "output-elsewhere",
                                                 "padding-in-denominator",
                                                 "page-missing",
                                                 "page-too-many",
                                                 "part-in-denominator",
                                                 "partition-layout",
                                                 "partition-lost",
                                                 "partition-not-rescaled",
                                                 "probabilities-rounded",
                                                 "row-unwritten",
                                                 "scale-missing",
                                                 "scale-twice",
                                                 "scales-swapped",
                                                 "sparse-logit-zero",
                                                 "sparse-pattern",
                                                 "sparsity-ignored",
                                                 "statistics-of-another-row",
                                                 "sum-divided-twice",
                                                 "sum-not-divided",
                                                 "sum-not-rescaled",
                                                 "sum-over-warp",
                                                 "table-ignored",
                                                 "tail-not-masked",
                                                 "tail-weighs",
                                                 "token-doubled",
                                                 "token-dropped",
                                                 "token-stride",
                                                 "v-scale",
                                                 "value-dropped",
                                                 "value-layout",
                                                 "value-strides",
                                                 "values-of-other-tokens",
                                                 "warps-not-combined",
                                                 "wrong-kv-head",
                                                 "wrong-length",
                                                 "wrong-query",
                                                 "wrong-table-row"};

/// One of them, or "". Code that names another does not compile.
class CauseId {
 public:
  constexpr CauseId() = default;
  consteval CauseId(const char* id) : id_(id) {
    if (std::find(std::begin(kCauseIds), std::end(kCauseIds), id_) == std::end(kCauseIds))
      throw "no such id in kCauseIds";
  }
  std::string text() const { return std::string(id_); }
  friend constexpr bool operator==(const CauseId& a, const CauseId& b) = default;

 private:
  std::string_view id_;
};

/// Whether a mistake with this id can show in a sequence of one token, which has all the weight
/// whatever its logit: what is wrong with where values are read or outputs written, which tokens
/// there are, or the denominator. One of "table-ignored" or "wrong-kv-head" cannot where it is
/// about keys alone (LikelyCause::shows_in_one_token).
constexpr bool shows_in_one_token(CauseId id) {
  constexpr CauseId kShown[] = {"added-repeatedly",
                                "address-order",
                                "coarse-accumulator",
                                "denominator",
                                "dimensions-overwritten",
                                "dimensions-unwritten",
                                "foreign-block",
                                "fp8-codes",
                                "guard",
                                "last-token-dropped",
                                "length-of-longest",
                                "maximum",
                                "not-a-number",
                                "nothing-weighs",
                                "one-token-too-many",
                                "output-elsewhere",
                                "padding-in-denominator",
                                "page-missing",
                                "page-too-many",
                                "row-unwritten",
                                "scales-swapped",
                                "table-ignored",
                                "tail-not-masked",
                                "tail-weighs",
                                "v-scale",
                                "value-dropped",
                                "value-layout",
                                "value-strides",
                                "wrong-kv-head",
                                "wrong-length",
                                "wrong-table-row"};
  return std::find(std::begin(kShown), std::end(kShown), id) != std::end(kShown);
}

}  // namespace paged
