#include "reference/cache_operations.h"
#include "reference/sequence_tables.h"
#include "tests/harness/device_caches.h"
#include "tests/harness/invariants/all.h"
#include "tests/harness/invariants/cases.h"
#include "tests/harness/invariants/worked_example.h"
#include "tests/harness/random.h"

#include <algorithm>

namespace paged::parts_of_copy_on_write {
namespace {

std::vector<CaseSpec> cases(ScalarType scalar, std::uint64_t seed) {
  std::vector<CaseSpec> specs;
  // A fork within a page, at its edge, and one token before it.
  for (const int seq_len : {21, 16, 31})
    specs.push_back(make_case(scalar, {4, 2, 64, 16}, {seq_len}, "normal", seed));
  return specs;
}

std::string refuses(const DecodeProblem& problem) {
  if (problem.num_seqs() == 0 || problem.seq_lens[0] == 0)
    return "its first sequence, the one to fork, has no token";
  return "";
}

/// Tokens that parent and child add after the fork.
constexpr int kAdded = 3;

/// A parent of the case's first length, forked into a child, and both grown apart, on the device;
/// and the same tokens on the host, where nothing is shared.
class Fork {
 public:
  Fork(KernelUnderTest& kernel, const DecodeProblem& given, std::uint64_t seed)
      : kernel_(kernel),
        shared_(problem_of(given, blocks_for(given))),
        apart_(problem_of(given, 2 * blocks_for(given))),
        caches_(kernel.device(), shared_),
        tables_(given.block_size, static_cast<int>(shared_.num_blocks())),
        length_(given.seq_lens[0]),
        random_(seed * 3 + 53) {
    shared_.seq_lens = apart_.seq_lens = {length_, length_};
    parent_ = tables_.create();
    for (int token = 0; token < length_; ++token) append(parent_, {0, 1});
    child_ = tables_.fork(parent_);
  }

  /// One more token for one of the two: 0 the parent, 1 the child.
  void grow(int which) {
    append(which == 0 ? parent_ : child_, {which});
    ++shared_.seq_lens[which];
    ++apart_.seq_lens[which];
  }

  /// The decode step on the device's caches.
  DecodeProblem on_device() {
    DecodeProblem problem = shared_;
    kernel_.operate_on_caches([&](CacheOperations&) { caches_.download(problem); });
    const int width = num_pages_of_longest(problem);
    problem.block_tables = tables_.block_table({parent_, child_}, width, -1);
    problem.max_num_blocks_per_seq = width;
    return problem;
  }
  /// The same tokens in blocks of their own: parent and child take turns in the cache.
  DecodeProblem unshared() const {
    DecodeProblem problem = apart_;
    const int width = num_pages_of_longest(problem);
    for (int seq = 0; seq < 2; ++seq)
      for (int page = 0; page < width; ++page) problem.block_tables.push_back(2 * page + seq);
    problem.max_num_blocks_per_seq = width;
    return problem;
  }
  const SequenceTables& tables() const { return tables_; }
  int parent() const { return parent_; }
  int child() const { return child_; }
  const std::vector<BlockCopy>& copies() const { return copies_; }
  std::string damage() const { return caches_.damage(); }

 private:
  /// Blocks for parent and child, had they nothing in common.
  static std::int64_t blocks_for(const DecodeProblem& given) {
    return 2 * (num_pages(given.seq_lens[0] + kAdded, given.block_size) + 1);
  }
  static int num_pages_of_longest(const DecodeProblem& problem) {
    return num_pages(std::max(problem.seq_lens[0], problem.seq_lens[1]), problem.block_size);
  }

  /// Two sequences with the query of the first, and stale numbers in all blocks.
  static DecodeProblem problem_of(const DecodeProblem& given, std::int64_t num_blocks) {
    DecodeProblem problem = given;
    problem.sparsity = {};
    problem.block_tables.clear();
    problem.query = Tensor(given.query.type(), {2, given.num_heads, given.head_size});
    const std::int64_t row = std::int64_t{given.num_heads} * given.head_size;
    for (std::int64_t i = 0; i < 2 * row; ++i) problem.query.copy_element(i, given.query, i % row);
    problem.key_cache = make_key_cache(given.cache(), num_blocks, given.num_kv_heads,
                                       given.head_size, given.block_size);
    problem.value_cache = make_value_cache(given.cache(), num_blocks, given.num_kv_heads,
                                           given.head_size, given.block_size);
    problem.key_cache.fill(-3);
    problem.value_cache.fill(-3);
    return problem;
  }

  /// Appends a random token on the device, and on the host to each of `which`.
  void append(int sequence, const std::vector<int>& which) {
    const std::vector<std::int64_t> shape = {1, shared_.num_kv_heads, shared_.head_size};
    Tensor keys(same_as(shared_.scalar), shape);
    Tensor values(same_as(shared_.scalar), shape);
    for (std::int64_t i = 0; i < keys.size(); ++i) {
      keys.write(i, random_.normal());
      values.write(i, random_.normal());
    }
    const int position = tables_.length(sequence);
    const AppendedToken appended = tables_.append(sequence);
    const DeviceTokens tokens(kernel_.device(), shared_.scalar, keys, values);
    kernel_.operate_on_caches([&](CacheOperations& operations) {
      operations.copy_blocks(caches_.paged(), appended.copies);
      operations.write_tokens(caches_.paged(), tokens.tensors(), {{appended.slot}}, shared_.k_scale,
                              shared_.v_scale);
    });
    copies_.insert(copies_.end(), appended.copies.begin(), appended.copies.end());
    for (const int seq : which) {
      const int block_size = shared_.block_size;
      const std::int64_t slot = std::int64_t{2} * (position / block_size) * block_size +
                                seq * block_size + position % block_size;
      write_tokens({&apart_.key_cache, &apart_.value_cache}, keys, values, {{slot}},
                   shared_.k_scale, shared_.v_scale);
    }
  }

  KernelUnderTest& kernel_;
  DecodeProblem shared_, apart_;
  DeviceCaches caches_;
  SequenceTables tables_;
  int length_;
  Random random_;
  int parent_ = 0, child_ = 0;
  std::vector<BlockCopy> copies_;
};

Verdict check(KernelUnderTest& kernel, const Case& c, std::uint64_t seed) {
  Fork fork(kernel, c.problem, seed);
  DecodeOutputs before = kernel.run(fork.on_device());
  const auto compare_with_unshared = [&]() -> std::string {
    const std::string difference = bit_difference(kernel.run(fork.unshared()), before);
    return difference.empty() ? fork.damage()
                              : "parent (sequence 0) and child (1) share pages, and unlike the "
                                "same tokens without sharing, " +
                                    difference;
  };
  std::string wrong = compare_with_unshared();
  for (int step = 0; step < 2 * kAdded && wrong.empty(); ++step) {
    const int writer = step % 2 == 0 ? 1 : 0;  // the child first: it must copy the last page
    fork.grow(writer);
    const DecodeOutputs after = kernel.run(fork.on_device());
    wrong = bit_difference(before, 1 - writer, after, 1 - writer);
    if (!wrong.empty())
      wrong = std::string("after a token of the ") + (writer == 1 ? "child" : "parent") +
              " was written, the other one's output changed: " + wrong;
    before = after;
    if (wrong.empty()) wrong = compare_with_unshared();
  }
  return wrong.empty() ? Verdict{} : Verdict::fail(wrong);
}

std::string blocks_text(const std::vector<SequenceTables::BlockId>& blocks) {
  std::string row;
  for (const auto block : blocks) row += (row.empty() ? "" : ", ") + std::to_string(block);
  return "[" + row + "]";
}

std::string example(KernelUnderTest& kernel) {
  Fork fork(kernel, example_problem(), 1);
  const auto rows = [&] {
    return "parent " + blocks_text(fork.tables().blocks(fork.parent())) + ", child " +
           blocks_text(fork.tables().blocks(fork.child()));
  };
  std::string lines = "after the fork, 19 tokens each: " + rows() + "\n";
  const std::string before = bits_of(kernel.run(fork.on_device()).output, 0);
  fork.grow(1);
  lines += "after one token more for the child: " + rows();
  for (const BlockCopy& copy : fork.copies())
    lines += text("; block %d was copied to %d first", copy.from, copy.to);
  return lines + "\noutput[0] of the parent " + before + ", now " +
         bits_of(kernel.run(fork.on_device()).output, 0) + "\n";
}

}  // namespace
}  // namespace paged::parts_of_copy_on_write

namespace paged {

Invariant copy_on_write() {
  using namespace parts_of_copy_on_write;
  return {
      "copy-on-write",
      "After a fork, writing to one sequence leaves the other's output unchanged.",
      "child = fork(parent), append(child)  =>  o_parent is the same, bit for bit, and o_child "
      "is that of the same tokens in blocks of its own; and the other way round",
      "forks within a page and at its edge; then three tokens for each, in turn, written by the "
      "cache operations; compared with caches in which nothing is shared",
      "a shared page written in place; a copy that leaves out keys, values or a head; copies in "
      "the wrong direction or order",
      "If the writer's sibling changed, the last page was not copied, or copied the wrong way; "
      "if the writer is wrong, the copy is incomplete.",
      cases,
      refuses,
      check,
      example,
      /*needs_watching=*/false,
      &StageFeatures::cache_operations};
}

}  // namespace paged
