#include "tests/harness/combined_answer.h"

#include <cmath>

namespace paged {
namespace {

/// One expected number and its bound, from those of the runs.
struct Expectation {
  double value;
  double bound;

  void add(double factor, double got, double reference, double its_bound) {
    if (std::isfinite(got) && std::isfinite(reference)) value += factor * (got - reference);
    bound += std::abs(factor) * its_bound;
  }
};

}  // namespace

ReferenceAnswer combined_answer(const ReferenceAnswer& answer, const std::vector<Term>& terms) {
  ReferenceAnswer combined = answer;
  for (std::size_t i = 0; i < combined.attention.size(); ++i) {
    const auto head_size = combined.attention[i].output.size();
    for (Eigen::Index dim = 0; dim < head_size; ++dim) {
      Expectation expected{answer.attention[i].output[dim], answer.bounds[i].output[dim]};
      for (const Term& term : terms)
        expected.add(term.factor,
                     term.outputs->output.read(static_cast<std::int64_t>(i) * head_size + dim),
                     term.answer->attention[i].output[dim], term.answer->bounds[i].output[dim]);
      combined.attention[i].output[dim] = expected.value;
      combined.bounds[i].output[dim] = expected.bound;
    }
    if (terms.size() != 1 || terms[0].factor != 1 || terms[0].outputs->lse.empty()) continue;
    Expectation lse{answer.attention[i].lse, answer.bounds[i].lse};
    lse.add(1, terms[0].outputs->lse[i], terms[0].answer->attention[i].lse,
            terms[0].answer->bounds[i].lse);
    combined.attention[i].lse = lse.value;
    combined.bounds[i].lse = lse.bound;
  }
  return combined;
}

}  // namespace paged
