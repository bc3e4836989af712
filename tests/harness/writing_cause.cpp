#include "tests/harness/writing_cause.h"

#include "tests/harness/coordinates.h"
#include "tests/harness/counted_noun.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace paged {
namespace {

std::vector<OutputRow> rows_of(const WholeRun& run) {
  std::vector<OutputRow> rows;
  for (int seq = 0; seq < run.problem().num_seqs(); ++seq)
    for (int head = 0; head < run.problem().num_heads; ++head)
      if (run.problem().seq_lens[seq] > 0) rows.push_back({seq, head});
  return rows;
}

bool has_no_number(const Eigen::VectorXd& output) {
  return (output.array() != output.array()).all();
}

LikelyCause rows_unwritten(KernelUnderTest& kernel, const WholeRun& run, OutputRow suspect) {
  if (!has_no_number(run.output(suspect)) || !run.attention(suspect).output.allFinite()) return {};
  const DecodeProblem& problem = run.problem();
  const DecodeOutputs on_zeros = kernel.run(problem, {.output_fill = 0});
  const auto is_unwritten = [&](OutputRow row) {
    const std::int64_t first =
        (std::int64_t{row.seq} * problem.num_heads + row.head) * problem.head_size;
    for (int dim = 0; dim < problem.head_size; ++dim)
      if (on_zeros.output.read(first + dim) != 0) return false;
    return has_no_number(run.output(row));
  };
  if (!is_unwritten(suspect)) return {};
  int unwritten = 0;
  const std::vector<OutputRow> rows = rows_of(run);
  for (const OutputRow row : rows) unwritten += is_unwritten(row) ? 1 : 0;
  return {"row-unwritten", "the output of " + place(suspect.seq, suspect.head) +
                               " is never written (" + std::to_string(unwritten) + " of " +
                               counted(static_cast<int>(rows.size()), "such row") + ")"};
}

/// How many times its bound an element that is wrong must be off at least, where its neighbours are
/// right: errors of any other kind are spread over all dimensions.
constexpr double kFarOff = 8;

/// The dimensions that are wrong in some row; none if an error is not so clear.
std::set<int> wrong_dimensions(const WholeRun& run) {
  std::set<int> wrong;
  for (const OutputRow row : rows_of(run)) {
    const Eigen::VectorXd got = run.output(row);
    const Eigen::VectorXd& bound = run.bound(row).output;
    const Eigen::VectorXd& expected = run.attention(row).output;
    // An output of few numbers that are not 0 has few dimensions that can be wrong.
    if (2 * (expected.array().abs() > bound.array()).count() < got.size()) return {};
    for (int dim = 0; dim < got.size(); ++dim) {
      const double off = std::abs(got[dim] - expected[dim]);
      if (off <= bound[dim]) continue;
      if (!(off > kFarOff * bound[dim])) return {};  // or no number
      wrong.insert(dim);
    }
  }
  return wrong;
}

LikelyCause dimensions_overwritten(const WholeRun& run, OutputRow suspect) {
  const std::set<int> wrong = wrong_dimensions(run);
  if (wrong.empty() || static_cast<int>(wrong.size()) > run.problem().head_size / 16) return {};
  bool is_suspect_wrong = false;
  std::set<double> numbers;
  for (const OutputRow row : rows_of(run)) {
    if (run.is_right(row)) continue;
    const Eigen::VectorXd got = run.output(row);
    for (const int dim : wrong) numbers.insert(got[dim]);
    is_suspect_wrong |= row.seq == suspect.seq && row.head == suspect.head;
  }
  if (!is_suspect_wrong) return {};
  std::string which = wrong.size() == 1 ? "dimension " : "dimensions ";
  for (const int dim : wrong) which += (dim == *wrong.begin() ? "" : ", ") + std::to_string(dim);
  const bool is_one = wrong.size() == 1;
  return {"dimensions-overwritten",
          "in every wrong row " + which + (is_one ? " is" : " are") + " wrong" +
              (numbers.size() == 1 ? ", " + number(*numbers.begin()) + " each time," : "") +
              " and all others are right: " + (is_one ? "it is" : "they are") +
              " written over or left out, perhaps by whoever writes the row beside"};
}

}  // namespace

LikelyCause cause_of_writing(KernelUnderTest& kernel, const WholeRun& run, OutputRow suspect) {
  if (LikelyCause cause = rows_unwritten(kernel, run, suspect); !cause.id.empty()) return cause;
  return dimensions_overwritten(run, suspect);
}

}  // namespace paged
