// Others' ways to test such a kernel, over the same mutants: what they feed it and what they
// accept.
#pragma once
#include "tests/harness/case_builder.h"
#include "tests/harness/kernel_under_test.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paged {

/// How a recipe compares an output with its reference.
struct RecipeComparison {
  /// An element passes if |a - b| <= absolute + relative * |b|.
  double absolute = 0;
  double relative = 0;
  /// An element passes if it is within either tolerance alone, not within their sum.
  bool either = false;
  /// NaN passes, since the test is `fabs(a - b) > tolerance` for failure.
  bool accepts_nan = false;
  /// Largest 1 - 2 a.b / (a.a + b.b) of the whole tensor; not set: not looked at.
  std::optional<double> cosine;
  /// Absolute and relative tolerance of log-sum-exp; not set: not looked at.
  std::optional<double> lse_absolute, lse_relative;
};

/// One input of a recipe.
struct RecipeCase {
  CaseSpec spec;
  std::string distribution;        ///< of query, keys and values: "uniform" or "normal"
  double width = 1;                ///< half of the interval, or the standard deviation
  bool blocks_may_repeat = false;  ///< tables are drawn with replacement, as real ones never are
  RecipeComparison comparison;
};

/// Facts about how somebody tests.
struct Recipe {
  std::string name;
  std::string who;         ///< whose it is
  std::string inputs;      ///< what it feeds a kernel, for people
  std::string acceptance;  ///< what it accepts, for people
  std::vector<RecipeCase> cases;
};

/// The recipes of recipes.json. Throws InputError.
std::vector<Recipe> read_recipes();

/// A recipe with its inputs and right answers, made when they are first needed.
class PreparedRecipe {
 public:
  explicit PreparedRecipe(Recipe recipe) : recipe_(std::move(recipe)) {}

  const Recipe& recipe() const { return recipe_; }
  /// Whether the recipe tells the stage from a right one. The stage gets the recipe's inputs in the
  /// head size and block size that it is built for.
  ///
  /// A launch that stops, since a thread left the memory or waits for ever, counts as caught; other
  /// findings of the CPU machine do not: nobody who runs the recipe on a GPU sees them.
  bool catches(const Stage& stage, Device& device);

 private:
  struct Prepared {
    DecodeProblem problem;
    std::vector<double> output;  // in the tensor's order
    std::vector<double> lse;     // [num_seqs * num_heads]
    RecipeComparison comparison;
  };
  using Sizes = std::pair<int, int>;  // head size, block size
  const std::vector<Prepared>& cases_of(Sizes sizes);

  Recipe recipe_;
  std::map<Sizes, std::vector<Prepared>> cases_;
};

}  // namespace paged
