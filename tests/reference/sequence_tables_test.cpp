// Block tables of live sequences: append, fork with copy-on-write, free, swap. The main test plays
// random operations against a model that stores every sequence's tokens by value, and carries out
// the returned copies on a simulated memory.
#include "reference/sequence_tables.h"

#include "tests/reference/contents.h"
#include "tests/reference/error_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace paged {
namespace {

using testing::counts_of;

using SequenceId = SequenceTables::SequenceId;
using BlockId = SequenceTables::BlockId;

/// Everything that can be asked of the tables, to compare before and after.
struct Snapshot {
  std::vector<int> device_counts, host_counts;
  int device_free = 0, host_free = 0;
  std::map<SequenceId, std::vector<BlockId>> blocks;
  std::map<SequenceId, int> lengths;
  std::map<SequenceId, bool> on_device;
  bool operator==(const Snapshot&) const = default;
};

Snapshot snapshot(const SequenceTables& tables, const std::vector<SequenceId>& ids) {
  Snapshot s;
  s.device_counts = counts_of(tables.device_blocks());
  s.host_counts = counts_of(tables.host_blocks());
  s.device_free = tables.device_blocks().num_free();
  s.host_free = tables.host_blocks().num_free();
  for (const SequenceId id : ids) {
    s.blocks[id] = tables.blocks(id);
    s.lengths[id] = tables.length(id);
    s.on_device[id] = tables.on_device(id);
  }
  return s;
}

/// Requires an action to throw a one-line InputError and to leave the tables as they were.
template <typename Action>
void expect_refused(const SequenceTables& tables, const std::vector<SequenceId>& ids,
                    Action&& action, const std::string& what) {
  const Snapshot before = snapshot(tables, ids);
  const auto message = testing::input_error_of(action);
  ASSERT_TRUE(message.has_value()) << what << ": no InputError";
  EXPECT_FALSE(message->empty()) << what;
  EXPECT_EQ(message->find('\n'), std::string::npos) << *message;
  EXPECT_TRUE(snapshot(tables, ids) == before) << what << ": something changed";
}

void append_many(SequenceTables& tables, SequenceId sequence, int count) {
  for (int i = 0; i < count; ++i) tables.append(sequence);
}

// ---- append ----------------------------------------------------------------------------------
TEST(SequenceTables, ANewSequenceIsEmptyAndOnTheDevice) {
  SequenceTables tables(4, 3, 2);
  const SequenceId s = tables.create();
  EXPECT_EQ(tables.length(s), 0);
  EXPECT_TRUE(tables.blocks(s).empty());
  EXPECT_TRUE(tables.on_device(s));
  EXPECT_EQ(tables.block_size(), 4);
  EXPECT_EQ(tables.device_blocks().num_free(), 3);
  EXPECT_EQ(tables.host_blocks().num_free(), 2);
}

TEST(SequenceTables, ABlockIsTakenAtEachBlockBoundaryOnly) {
  SequenceTables tables(4, 5);
  const SequenceId s = tables.create();
  for (int token = 0; token < 17; ++token) {
    const AppendedToken appended = tables.append(s);
    const BlockId block = tables.blocks(s).back();
    EXPECT_TRUE(appended.copies.empty());
    EXPECT_EQ(appended.slot, std::int64_t{block} * 4 + token % 4);
    EXPECT_EQ(tables.length(s), token + 1);
    EXPECT_EQ(tables.blocks(s).size(), static_cast<std::size_t>(token / 4 + 1));
    EXPECT_EQ(tables.device_blocks().num_free(), 5 - (token / 4 + 1));
    for (int t = 0; t <= token; ++t)
      EXPECT_EQ(tables.slot(s, t),
                std::int64_t{tables.blocks(s)[static_cast<std::size_t>(t / 4)]} * 4 + t % 4);
  }
}

TEST(SequenceTables, AppendIsRefusedExactlyWhenABlockIsNeededAndNoneIsFree) {
  SequenceTables tables(2, 2);
  const SequenceId a = tables.create(), b = tables.create();
  append_many(tables, a, 1);
  append_many(tables, b, 1);
  EXPECT_EQ(tables.device_blocks().num_free(), 0);
  EXPECT_NO_THROW(tables.append(a));  // fits its page
  expect_refused(
      tables, {a, b}, [&] { tables.append(a); }, "no block left");
  tables.free(b);
  EXPECT_NO_THROW(tables.append(a));
}

// ---- fork and copy-on-write ------------------------------------------------------------------
TEST(SequenceTables, AForkSharesEveryBlockAndTakesNone) {
  SequenceTables tables(4, 3);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 10);
  const SequenceId child = tables.fork(parent);
  EXPECT_NE(child, parent);
  EXPECT_EQ(tables.blocks(child), tables.blocks(parent));
  EXPECT_EQ(tables.length(child), 10);
  EXPECT_EQ(tables.device_blocks().num_free(), 0);
  for (const BlockId block : tables.blocks(parent))
    EXPECT_EQ(tables.device_blocks().ref_count(block), 2);
}

TEST(SequenceTables, AppendingToASharedPartlyFilledBlockCopiesItFirst) {
  SequenceTables tables(4, 5);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 6);
  const SequenceId child = tables.fork(parent);
  const std::vector<BlockId> shared = tables.blocks(parent);

  const AppendedToken appended = tables.append(child);
  const BlockId own = tables.blocks(child)[1];
  EXPECT_NE(own, shared[1]);
  EXPECT_EQ(appended.copies, (std::vector<BlockCopy>{{shared[1], own}}));
  EXPECT_EQ(appended.slot, std::int64_t{own} * 4 + 2);
  EXPECT_EQ(tables.blocks(parent), shared);
  EXPECT_EQ(tables.blocks(child)[0], shared[0]);
  EXPECT_EQ(tables.device_blocks().ref_count(shared[0]), 2);
  EXPECT_EQ(tables.device_blocks().ref_count(shared[1]), 1);
  EXPECT_EQ(tables.device_blocks().ref_count(own), 1);
  // Nobody shares the parent's last block any more: it writes in place.
  EXPECT_TRUE(tables.append(parent).copies.empty());
  EXPECT_EQ(tables.blocks(parent), shared);
}

TEST(SequenceTables, AppendingAfterAFullSharedBlockNeedsNoCopy) {
  SequenceTables tables(4, 3);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 4);
  const SequenceId child = tables.fork(parent);
  const AppendedToken appended = tables.append(child);
  EXPECT_TRUE(appended.copies.empty());
  EXPECT_EQ(tables.blocks(child)[0], tables.blocks(parent)[0]);
  EXPECT_EQ(tables.device_blocks().ref_count(tables.blocks(child)[1]), 1);
}

TEST(SequenceTables, CopyOnWriteWithoutAFreeBlockIsRefused) {
  SequenceTables tables(4, 1);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 2);
  const SequenceId child = tables.fork(parent);
  expect_refused(
      tables, {parent, child}, [&] { tables.append(child); }, "no block to copy to");
  expect_refused(
      tables, {parent, child}, [&] { tables.append(parent); }, "no block to copy to");
  tables.free(parent);
  EXPECT_TRUE(tables.append(child).copies.empty());
}

TEST(SequenceTables, FreeingReturnsOnlyBlocksThatNobodyElseUses) {
  SequenceTables tables(2, 4);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 4);
  const SequenceId child = tables.fork(parent);
  tables.append(child);
  EXPECT_EQ(tables.device_blocks().num_free(), 1);
  tables.free(parent);
  EXPECT_EQ(tables.device_blocks().num_free(), 1);
  tables.free(child);
  EXPECT_EQ(tables.device_blocks().num_free(), 4);
}

// ---- swap ------------------------------------------------------------------------------------
TEST(SequenceTables, SwappingOutMovesEveryBlockToTheHost) {
  SequenceTables tables(4, 3, 3);
  const SequenceId s = tables.create();
  append_many(tables, s, 9);
  const std::vector<BlockId> device = tables.blocks(s);
  const std::vector<BlockCopy> out = tables.swap_out(s);
  EXPECT_FALSE(tables.on_device(s));
  EXPECT_EQ(tables.length(s), 9);
  const std::vector<BlockId> host = tables.blocks(s);
  ASSERT_EQ(out.size(), 3U);
  ASSERT_EQ(host.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i], (BlockCopy{device[i], host[i]}));
  EXPECT_EQ(tables.device_blocks().num_free(), 3);
  EXPECT_EQ(tables.host_blocks().num_free(), 0);

  const std::vector<BlockCopy> in = tables.swap_in(s);
  EXPECT_TRUE(tables.on_device(s));
  ASSERT_EQ(in.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(in[i], (BlockCopy{host[i], tables.blocks(s)[i]}));
  EXPECT_EQ(tables.device_blocks().num_free(), 0);
  EXPECT_EQ(tables.host_blocks().num_free(), 3);
}

TEST(SequenceTables, SwappingOutASharedBlockLeavesItToTheOthers) {
  SequenceTables tables(4, 3, 3);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 6);
  const SequenceId child = tables.fork(parent);
  const std::vector<BlockId> shared = tables.blocks(parent);
  EXPECT_EQ(tables.swap_out(child).size(), 2U);
  EXPECT_EQ(tables.blocks(parent), shared);
  for (const BlockId block : shared) EXPECT_EQ(tables.device_blocks().ref_count(block), 1);
  EXPECT_EQ(tables.host_blocks().num_free(), 1);
}

TEST(SequenceTables, SwappingAnEmptySequenceMovesNothing) {
  SequenceTables tables(4, 1, 0);
  const SequenceId s = tables.create();
  EXPECT_TRUE(tables.swap_out(s).empty());
  EXPECT_FALSE(tables.on_device(s));
  EXPECT_TRUE(tables.swap_in(s).empty());
  EXPECT_TRUE(tables.on_device(s));
}

TEST(SequenceTables, SwappingWithoutRoomIsRefused) {
  SequenceTables tables(2, 3, 1);
  const SequenceId s = tables.create();
  append_many(tables, s, 3);
  expect_refused(
      tables, {s}, [&] { tables.swap_out(s); }, "one host block for two");

  SequenceTables full(2, 2, 2);
  const SequenceId out = full.create();
  append_many(full, out, 3);
  full.swap_out(out);
  const SequenceId other = full.create();
  full.append(other);
  expect_refused(
      full, {out, other}, [&] { full.swap_in(out); }, "one device block for two");
  full.free(other);
  EXPECT_NO_THROW(full.swap_in(out));
}

TEST(SequenceTables, FreeingASwappedSequenceReturnsItsHostBlocks) {
  SequenceTables tables(2, 3, 3);
  const SequenceId s = tables.create();
  append_many(tables, s, 5);
  tables.swap_out(s);
  tables.free(s);
  EXPECT_EQ(tables.host_blocks().num_free(), 3);
  EXPECT_EQ(tables.device_blocks().num_free(), 3);
}

// ---- misuse ----------------------------------------------------------------------------------
TEST(SequenceTables, WrongSizesAreRefused) {
  EXPECT_THROW(SequenceTables(0, 4), InputError);
  EXPECT_THROW(SequenceTables(-16, 4), InputError);
  EXPECT_THROW(SequenceTables(16, -1), InputError);
  EXPECT_THROW(SequenceTables(16, 4, -1), InputError);
}

TEST(SequenceTables, AnUnknownOrFreedSequenceIsRefusedEverywhere) {
  SequenceTables tables(4, 4, 4);
  const SequenceId live = tables.create();
  append_many(tables, live, 5);
  const SequenceId freed = tables.create();
  append_many(tables, freed, 2);
  tables.free(freed);
  for (const SequenceId id : {freed, -1, 4711, INT_MAX}) {
    const std::string what = "sequence " + std::to_string(id);
    expect_refused(
        tables, {live}, [&] { tables.fork(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.append(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.free(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.swap_out(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.swap_in(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.on_device(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.length(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.blocks(id); }, what);
    expect_refused(
        tables, {live}, [&] { tables.slot(id, 0); }, what);
    expect_refused(
        tables, {live},
        [&] {
          tables.block_table({live, id}, 4, -1);
        },
        what);
  }
  const auto message = testing::input_error_of([&] { tables.append(4711); });
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(testing::mentions(*message, "4711")) << *message;
}

TEST(SequenceTables, OperationsOnTheWrongSideOfASwapAreRefused) {
  SequenceTables tables(4, 4, 4);
  const SequenceId here = tables.create(), away = tables.create();
  append_many(tables, here, 5);
  append_many(tables, away, 5);
  tables.swap_out(away);
  const std::vector<SequenceId> ids = {here, away};
  expect_refused(
      tables, ids, [&] { tables.swap_in(here); }, "swap in from the device");
  expect_refused(
      tables, ids, [&] { tables.swap_out(away); }, "swap out twice");
  expect_refused(
      tables, ids, [&] { tables.append(away); }, "append on the host");
  expect_refused(
      tables, ids,
      [&] {
        tables.block_table({here, away}, 4, -1);
      },
      "table of it");
}

TEST(SequenceTables, ASlotPastTheLengthIsRefused) {
  SequenceTables tables(4, 4);
  const SequenceId s = tables.create();
  append_many(tables, s, 5);
  for (const int token : {-1, 5, 7, 8, INT_MAX})
    expect_refused(
        tables, {s}, [&] { tables.slot(s, token); }, "token " + std::to_string(token));
}

// ---- tables ----------------------------------------------------------------------------------
TEST(SequenceTables, RowsArePaddedToTheWidthInTheOrderAskedFor) {
  SequenceTables tables(4, 8);
  const SequenceId a = tables.create(), b = tables.create(), empty = tables.create();
  append_many(tables, a, 9);
  append_many(tables, b, 4);
  const std::vector<std::int32_t> table = tables.block_table({b, empty, a, b}, 5, -9);
  ASSERT_EQ(table.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    const SequenceId row = std::vector<SequenceId>{b, empty, a, b}[i / 5];
    const std::vector<BlockId>& blocks = tables.blocks(row);
    EXPECT_EQ(table[i], i % 5 < blocks.size() ? blocks[i % 5] : -9) << i;
  }
  EXPECT_EQ(tables.block_table({a}, 3, -1), tables.blocks(a));
  EXPECT_TRUE(tables.block_table({}, 3, -1).empty());
}

TEST(SequenceTables, ATableNarrowerThanARowIsRefused) {
  SequenceTables tables(4, 8);
  const SequenceId a = tables.create();
  append_many(tables, a, 9);
  expect_refused(
      tables, {a}, [&] { tables.block_table({a}, 2, -1); }, "width 2 for 3 blocks");
  expect_refused(
      tables, {a}, [&] { tables.block_table({a}, -1, -1); }, "negative width");
}

// ---- random operations against a model -------------------------------------------------------
/// The tables beside a model. Tokens are numbered as they are appended; memory holds the numbers.
class ModelRun {
 public:
  ModelRun(int block_size, int device_blocks, int host_blocks, unsigned seed)
      : tables_(block_size, device_blocks, host_blocks),
        device_(static_cast<std::size_t>(device_blocks * block_size), kGarbage),
        host_(static_cast<std::size_t>(host_blocks * block_size), kGarbage),
        random_(seed) {}

  void step() {
    switch (random_() % 16) {
      case 0:
        if (sequences_.size() < kMostSequences) sequences_[tables_.create()] = {};
        break;
      case 1:
      case 2:
        fork();
        break;
      case 3:
        free();
        break;
      case 4:
        swap_out();
        break;
      case 5:
      case 6:
        swap_in();
        break;
      default:
        append();
    }
    check();
    overwrite_free_blocks();
  }

  int refusals() const { return refusals_; }
  int copies_on_write() const { return copies_on_write_; }
  int swaps() const { return swaps_; }

 private:
  static constexpr int kGarbage = -1;
  static constexpr std::size_t kMostSequences = 6;  // more would only fill every block
  struct Model {
    std::vector<int> tokens;
    bool on_device = true;
  };

  std::vector<SequenceId> ids() const {
    std::vector<SequenceId> all;
    for (const auto& [id, model] : sequences_) all.push_back(id);
    return all;
  }
  std::optional<SequenceId> pick(bool on_device) {
    std::vector<SequenceId> some;
    for (const auto& [id, model] : sequences_)
      if (model.on_device == on_device) some.push_back(id);
    if (some.empty()) return std::nullopt;
    return some[random_() % some.size()];
  }
  std::size_t pages(SequenceId id) const {
    const auto b = static_cast<std::size_t>(tables_.block_size());
    return (sequences_.at(id).tokens.size() + b - 1) / b;
  }
  void carry_out(const std::vector<BlockCopy>& copies, const std::vector<int>& from,
                 std::vector<int>& to) {
    const int b = tables_.block_size();
    for (const BlockCopy& copy : copies)
      for (int i = 0; i < b; ++i)
        to.at(static_cast<std::size_t>(copy.to * b + i)) =
            from.at(static_cast<std::size_t>(copy.from * b + i));
  }
  /// Runs an operation that must be refused exactly if `refuse`; whether it was carried out.
  template <typename Action>
  bool attempt(bool refuse, const char* what, Action&& action) {
    if (refuse) {
      ++refusals_;
      expect_refused(tables_, ids(), action, what);
      return false;
    }
    EXPECT_NO_THROW(action()) << what;
    return !::testing::Test::HasFailure();
  }

  void append() {
    const std::optional<SequenceId> id = pick(true);
    if (!id) return;
    Model& model = sequences_.at(*id);
    const bool at_boundary =
        model.tokens.size() % static_cast<std::size_t>(tables_.block_size()) == 0;
    const bool shared =
        !at_boundary && tables_.device_blocks().ref_count(tables_.blocks(*id).back()) > 1;
    AppendedToken appended;
    if (!attempt((at_boundary || shared) && tables_.device_blocks().num_free() == 0, "append",
                 [&] { appended = tables_.append(*id); }))
      return;
    EXPECT_EQ(appended.copies.size(), shared ? 1U : 0U);
    copies_on_write_ += shared;
    const std::vector<int> before = device_;
    carry_out(appended.copies, before, device_);
    const auto block = static_cast<BlockId>(appended.slot / tables_.block_size());
    EXPECT_EQ(tables_.device_blocks().ref_count(block), 1) << "the write lands in a shared block";
    device_.at(static_cast<std::size_t>(appended.slot)) = next_token_;
    model.tokens.push_back(next_token_++);
  }
  void fork() {
    const std::optional<SequenceId> parent = pick(true);
    if (!parent || sequences_.size() >= kMostSequences) return;
    SequenceId child = -1;
    if (attempt(false, "fork", [&] { child = tables_.fork(*parent); }))
      sequences_[child] = sequences_.at(*parent);
  }
  void free() {
    const std::optional<SequenceId> id = pick(random_() % 2 == 0);
    if (!id) return;
    if (attempt(false, "free", [&] { tables_.free(*id); })) sequences_.erase(*id);
  }
  void swap_out() {
    const std::optional<SequenceId> id = pick(true);
    if (!id) return;
    std::vector<BlockCopy> copies;
    const bool refuse = static_cast<std::size_t>(tables_.host_blocks().num_free()) < pages(*id);
    if (!attempt(refuse, "swap_out", [&] { copies = tables_.swap_out(*id); })) return;
    carry_out(copies, device_, host_);
    sequences_.at(*id).on_device = false;
    ++swaps_;
  }
  void swap_in() {
    const std::optional<SequenceId> id = pick(false);
    if (!id) return;
    std::vector<BlockCopy> copies;
    const bool refuse = static_cast<std::size_t>(tables_.device_blocks().num_free()) < pages(*id);
    if (!attempt(refuse, "swap_in", [&] { copies = tables_.swap_in(*id); })) return;
    carry_out(copies, host_, device_);
    sequences_.at(*id).on_device = true;
    ++swaps_;
  }

  void check() const {
    std::vector<int> device(static_cast<std::size_t>(tables_.device_blocks().num_blocks()), 0);
    std::vector<int> host(static_cast<std::size_t>(tables_.host_blocks().num_blocks()), 0);
    for (const auto& [id, model] : sequences_) {
      ASSERT_EQ(tables_.on_device(id), model.on_device);
      ASSERT_EQ(tables_.length(id), static_cast<int>(model.tokens.size()));
      ASSERT_EQ(tables_.blocks(id).size(), pages(id));
      for (const BlockId block : tables_.blocks(id))
        ++(model.on_device ? device : host).at(static_cast<std::size_t>(block));
      const std::vector<int>& memory = model.on_device ? device_ : host_;
      for (std::size_t t = 0; t < model.tokens.size(); ++t) {
        const auto b = static_cast<std::size_t>(tables_.block_size());
        const auto block = static_cast<std::size_t>(tables_.blocks(id)[t / b]);
        ASSERT_EQ(memory.at(block * b + t % b), model.tokens[t])
            << "sequence " << id << " token " << t;
        if (!model.on_device) continue;
        ASSERT_EQ(tables_.slot(id, static_cast<int>(t)),
                  static_cast<std::int64_t>(block * b + t % b));
      }
    }
    ASSERT_EQ(counts_of(tables_.device_blocks()), device);
    ASSERT_EQ(counts_of(tables_.host_blocks()), host);
    ASSERT_EQ(tables_.device_blocks().num_free(), std::count(device.begin(), device.end(), 0));
    ASSERT_EQ(tables_.host_blocks().num_free(), std::count(host.begin(), host.end(), 0));
  }
  /// A block that nobody references may be written by anyone.
  void overwrite_free_blocks() {
    const int b = tables_.block_size();
    for (int block = 0; block < tables_.device_blocks().num_blocks(); ++block)
      if (tables_.device_blocks().ref_count(block) == 0)
        std::fill_n(device_.begin() + block * b, b, kGarbage);
    for (int block = 0; block < tables_.host_blocks().num_blocks(); ++block)
      if (tables_.host_blocks().ref_count(block) == 0)
        std::fill_n(host_.begin() + block * b, b, kGarbage);
  }

  SequenceTables tables_;
  std::vector<int> device_, host_;  // a token number per slot
  std::map<SequenceId, Model> sequences_;
  std::mt19937 random_;
  int next_token_ = 0;
  int refusals_ = 0, copies_on_write_ = 0, swaps_ = 0;
};

TEST(SequenceTables, RandomOperationsMatchAModelOfTokenLists) {
  int refusals = 0, copies_on_write = 0, swaps = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const int block_size = std::vector<int>{1, 3, 4, 16}[seed % 4];
    ModelRun run(block_size, 8 + static_cast<int>(seed), 6, seed);
    for (int i = 0; i < 1200; ++i) {
      run.step();
      if (HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    refusals += run.refusals();
    copies_on_write += run.copies_on_write();
    swaps += run.swaps();
  }
  // The run is worth its name only if the rare cases came up.
  EXPECT_GT(refusals, 100);
  EXPECT_GT(copies_on_write, 100);
  EXPECT_GT(swaps, 100);
}

TEST(SequenceTables, AForkOfASwappedSequenceSharesItOrIsRefused) {
  SequenceTables tables(4, 4, 2);
  const SequenceId parent = tables.create();
  append_many(tables, parent, 6);
  tables.swap_out(parent);
  SequenceId child = -1;
  const auto refusal = testing::input_error_of([&] { child = tables.fork(parent); });
  if (refusal) {
    EXPECT_EQ(tables.host_blocks().num_free(), 0);
    return;
  }
  EXPECT_FALSE(tables.on_device(child));
  EXPECT_EQ(tables.blocks(child), tables.blocks(parent));
  tables.swap_in(parent);
  EXPECT_EQ(tables.host_blocks().num_free(), 0);  // the child still needs them
  tables.free(child);
  EXPECT_EQ(tables.host_blocks().num_free(), 2);
}

}  // namespace
}  // namespace paged
