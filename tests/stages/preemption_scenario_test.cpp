// Sequences that are forked, preempted and resumed attend as if nothing had happened to them.
//
// The block tables of reference/ drive real caches on a device: tokens are written at the slots
// they give, blocks copied and swapped as they ask. Every output must equal, bit for bit, that of
// the same tokens in a run in which each sequence is alone from its first token to its last.
#include "reference/decode_problem.h"
#include "reference/sequence_tables.h"
#include "stages/cache_operations.h"
#include "tests/harness/random.h"
#include "tests/stages/execution_place.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace paged {
namespace {

using SequenceId = SequenceTables::SequenceId;
using BlockId = SequenceTables::BlockId;
using Bytes = std::vector<std::byte>;
using History = std::vector<int>;  ///< the tokens of a sequence; equal numbers are equal tokens

constexpr int kNumHeads = 4, kNumKvHeads = 2, kHeadSize = 64, kMaxTokens = 64;

/// Types and sizes of a run.
struct Sizes {
  ScalarType scalar;
  CacheType cache;
  int block_size;
  float k_scale, v_scale;
};

/// One layer of a model on a device, with as many blocks as given.
class Layer {
 public:
  Layer(Device& device, Checking checking, const Sizes& types, int device_blocks, int host_blocks)
      : device_(device),
        operations_(device, checking),
        stage_(find_stage("4", device.backend(), checking)),
        types_(types),
        tables_(types.block_size, device_blocks, host_blocks),
        host_keys_(
            make_key_cache(types.cache, host_blocks, kNumKvHeads, kHeadSize, types.block_size)),
        host_values_(
            make_value_cache(types.cache, host_blocks, kNumKvHeads, kHeadSize, types.block_size)) {
    const CacheShape shape{types.cache, device_blocks, kNumKvHeads, kHeadSize, types.block_size};
    memory_ = DeviceBuffer(device, 2 * shape.bytes_of_one(), "both caches");
    // NaN: an output shows whether a slot was read that no token was written to.
    const Bytes nans(memory_.size_in_bytes(), std::byte{0xFF});
    device.upload(memory_.data(), nans.data(), nans.size());
    caches_ = split_view(shape, memory_.data());
    CacheShape host_shape = shape;
    host_shape.num_blocks = host_blocks;
    host_caches_ = contiguous_caches(host_shape, host_keys_.data(), host_values_.data());
  }

  const SequenceTables& tables() const { return tables_; }
  const History& history(SequenceId sequence) const { return histories_.at(sequence); }

  SequenceId create() { return histories_.try_emplace(tables_.create()).first->first; }
  SequenceId fork(SequenceId parent) {
    const SequenceId child = tables_.fork(parent);
    histories_[child] = histories_[parent];
    return child;
  }
  void free(SequenceId sequence) {
    tables_.free(sequence);
    histories_.erase(sequence);
  }
  void preempt(SequenceId sequence) {
    operations_.swap_out(caches_, host_caches_, tables_.swap_out(sequence));
  }
  void resume(SequenceId sequence) {
    operations_.swap_in(host_caches_, caches_, tables_.swap_in(sequence));
  }

  /// Appends a token to each of several sequences, as one decode step does.
  void append(const std::vector<SequenceId>& sequences, const std::vector<int>& tokens) {
    std::vector<std::int64_t> slots;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const AppendedToken appended = tables_.append(sequences[i]);
      copies_on_write_ += static_cast<int>(appended.copies.size());
      operations_.copy_blocks(caches_, appended.copies);
      slots.push_back(appended.slot);
      histories_[sequences[i]].push_back(tokens[i]);
    }
    const DeviceBuffer keys = rows_of(tokens, kNumKvHeads, 1, "keys");
    const DeviceBuffer values = rows_of(tokens, kNumKvHeads, 2, "values");
    const std::int64_t stride = kNumKvHeads * kHeadSize;
    operations_.write_tokens(caches_, {types_.scalar, keys.data(), values.data(), stride, stride},
                             slots, types_.k_scale, types_.v_scale);
  }

  /// The attention of each sequence's last token: [sequences], each [kNumHeads, kHeadSize].
  std::vector<Bytes> attend(const std::vector<SequenceId>& sequences);

  int copies_on_write() const { return copies_on_write_; }

 private:
  // [tokens, heads, kHeadSize] of normal values that follow from token and purpose alone.
  DeviceBuffer rows_of(const std::vector<int>& tokens, int heads, int purpose, const char* name) {
    const std::int64_t row = std::int64_t{heads} * kHeadSize;
    Tensor rows(same_as(types_.scalar), {static_cast<std::int64_t>(tokens.size()), row});
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Random random(static_cast<std::uint64_t>(tokens[i]) * 4 + purpose);
      for (std::int64_t j = 0; j < row; ++j)
        rows.write(static_cast<std::int64_t>(i) * row + j, 2 * random.normal());
    }
    return uploaded(rows.data(), rows.size_in_bytes(), name);
  }
  DeviceBuffer uploaded(const void* host, std::size_t bytes, const char* name) {
    DeviceBuffer buffer(device_, bytes, name);
    device_.upload(buffer.data(), host, bytes);
    return buffer;
  }

  Device& device_;
  CacheOperations operations_;
  const Stage& stage_;
  Sizes types_;
  SequenceTables tables_;
  Tensor host_keys_, host_values_;
  DeviceBuffer memory_;
  PagedCaches caches_, host_caches_;
  std::map<SequenceId, History> histories_;
  int copies_on_write_ = 0;
};

std::vector<Bytes> Layer::attend(const std::vector<SequenceId>& sequences) {
  const int num_seqs = static_cast<int>(sequences.size());
  std::vector<int> last_tokens, lengths;
  for (SequenceId sequence : sequences) {
    last_tokens.push_back(history(sequence).back());
    lengths.push_back(tables_.length(sequence));
  }
  const int width = num_pages(kMaxTokens, types_.block_size);
  const std::vector<std::int32_t> table = tables_.block_table(sequences, width, -1);

  const std::size_t output_bytes = kNumHeads * kHeadSize * size_in_bytes(types_.scalar);
  const DeviceBuffer query = rows_of(last_tokens, kNumHeads, 3, "query");
  const DeviceBuffer d_table = uploaded(table.data(), sizeof(int) * table.size(), "block_tables");
  const DeviceBuffer d_lengths = uploaded(lengths.data(), sizeof(int) * num_seqs, "seq_lens");
  const DeviceBuffer output(device_, output_bytes * num_seqs, "output");

  paged_decode_args args{};
  args.version = PAGED_DECODE_VERSION;
  args.scalar = static_cast<int>(types_.scalar);
  args.cache = static_cast<int>(types_.cache);
  args.num_seqs = num_seqs;
  args.num_heads = kNumHeads;
  args.num_kv_heads = kNumKvHeads;
  args.head_size = kHeadSize;
  args.block_size = types_.block_size;
  args.num_blocks = caches_.shape.num_blocks;
  args.max_num_blocks_per_seq = width;
  args.max_seq_len = *std::max_element(lengths.begin(), lengths.end());
  args.query = query.data();
  args.query_stride = kNumHeads * kHeadSize;
  args.key_cache = caches_.key_cache;
  args.value_cache = caches_.value_cache;
  args.key_block_stride = caches_.key_strides.block_stride;
  args.key_head_stride = caches_.key_strides.head_stride;
  args.value_block_stride = caches_.value_strides.block_stride;
  args.value_head_stride = caches_.value_strides.head_stride;
  args.block_tables = static_cast<const std::int32_t*>(d_table.data());
  args.seq_lens = static_cast<const std::int32_t*>(d_lengths.data());
  args.scale = 0.125F;  // 1 / sqrt(kHeadSize)
  args.k_scale = types_.k_scale;
  args.v_scale = types_.v_scale;
  args.sparse_vert_stride = args.sparse_block_size = 1;
  args.output = output.data();
  args.partition_size = 512;
  check_arguments(args);
  check_supported(stage_, shape_of(args), device_.limits());
  stage_.run(args);
  device_.finish();

  std::vector<Bytes> outputs(num_seqs, Bytes(output_bytes));
  for (int i = 0; i < num_seqs; ++i)
    device_.download(outputs[i].data(),
                     static_cast<const std::byte*>(output.data()) + i * output_bytes, output_bytes);
  return outputs;
}

/// What a run has put out: the attention of each history's last token.
using Outputs = std::map<History, Bytes>;

/// The sequences of one run and their outputs after each step.
class Service {
 public:
  Service(Device& device, Checking checking, const Sizes& types, int device_blocks, int host_blocks)
      : layer_(device, checking, types, device_blocks, host_blocks) {}

  Layer& layer() { return layer_; }
  const Outputs& outputs() const { return outputs_; }

  /// One decode step of the sequences, all of which must be on the device: a new token to each.
  void step(const std::vector<SequenceId>& sequences) {
    std::vector<int> tokens;
    for (std::size_t i = 0; i < sequences.size(); ++i) tokens.push_back(next_token_++);
    layer_.append(sequences, tokens);
    const std::vector<Bytes> outputs = layer_.attend(sequences);
    for (std::size_t i = 0; i < sequences.size(); ++i)
      outputs_[layer_.history(sequences[i])] = outputs[i];
  }
  void steps(int count, const std::vector<SequenceId>& sequences) {
    for (int i = 0; i < count; ++i) step(sequences);
  }

 private:
  Layer layer_;
  Outputs outputs_;
  int next_token_ = 1;
};

/// The outputs of every history in `asked`, each sequence alone, never forked, never preempted.
Outputs undisturbed(Device& device, Checking checking, const Sizes& types, const Outputs& asked) {
  Outputs outputs;
  for (auto it = asked.begin(); it != asked.end(); ++it) {
    const History& history = it->first;
    const auto next = std::next(it);  // in lexicographic order: a longer one follows its beginning
    const bool goes_on = next != asked.end() && next->first.size() > history.size() &&
                         std::equal(history.begin(), history.end(), next->first.begin());
    if (goes_on) continue;
    Layer layer(device, checking, types, num_pages(kMaxTokens, types.block_size), 0);
    const SequenceId sequence = layer.create();
    for (int token : history) {
      layer.append({sequence}, {token});
      const Bytes output = layer.attend({sequence}).front();
      if (asked.contains(layer.history(sequence))) outputs[layer.history(sequence)] = output;
    }
  }
  return outputs;
}

int count_non_finite(const Bytes& output, ScalarType type) {
  Tensor tensor(same_as(type), {static_cast<std::int64_t>(output.size() / size_in_bytes(type))});
  std::memcpy(tensor.data(), output.data(), output.size());
  int count = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) count += !std::isfinite(tensor.read(i));
  return count;
}

struct ScenarioCase {
  ExecutionPlace place;
  Sizes types;
};
std::string name_of(const ScenarioCase& c) {
  return name_of(c.place) + "_" + std::string(name_of(c.types.scalar)) + "_cache_" +
         std::string(name_of(c.types.cache)) + "_block_" + std::to_string(c.types.block_size);
}
void PrintTo(const ScenarioCase& c, std::ostream* stream) { *stream << name_of(c); }

class PreemptionScenarioTest : public ::testing::TestWithParam<ScenarioCase> {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device(GetParam().place);
    if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    device_ = make_device(GetParam().place.backend);
  }
  Service service_with(int device_blocks, int host_blocks) {
    return Service(*device_, GetParam().place.checking, GetParam().types, device_blocks,
                   host_blocks);
  }
  void expect_undisturbed(const Outputs& outputs) {
    const Outputs expected =
        undisturbed(*device_, GetParam().place.checking, GetParam().types, outputs);
    ASSERT_EQ(outputs.size(), expected.size());
    std::set<Bytes> different;
    for (const auto& [history, output] : outputs) {
      EXPECT_EQ(count_non_finite(output, GetParam().types.scalar), 0)
          << "after " << history.size() << " tokens";
      EXPECT_EQ(output, expected.at(history))
          << "the output after token " << history.back() << " (length " << history.size()
          << ") is not that of the undisturbed run";
      different.insert(output);
    }
    EXPECT_EQ(different.size(), outputs.size());  // nothing was compared with itself
    expect_no_findings(*device_);
  }
  std::unique_ptr<Device> device_;
};

TEST_P(PreemptionScenarioTest, ForkedAndPreemptedSequencesAttendAsIfAlone) {
  const int block = GetParam().types.block_size;
  Service service = service_with(9, 4);
  Layer& layer = service.layer();
  const auto blocks_of = [&](SequenceId sequence) -> const std::vector<BlockId>& {
    return layer.tables().blocks(sequence);
  };

  // Two sequences; the second is forked in the middle of its second block.
  const SequenceId a = layer.create(), b = layer.create();
  service.steps(block + 2, {a, b});
  const SequenceId c = layer.fork(b);
  EXPECT_EQ(blocks_of(b), blocks_of(c));
  service.steps(2, {a, b, c});  // copy-on-write: b and c part ways
  EXPECT_EQ(layer.copies_on_write(), 1);
  EXPECT_EQ(blocks_of(b)[0], blocks_of(c)[0]);
  EXPECT_NE(blocks_of(b)[1], blocks_of(c)[1]);

  // a and the fork are preempted; the block that the fork shares stays for b.
  const std::vector<BlockId> freed = blocks_of(a);
  layer.preempt(a);
  layer.preempt(c);
  const SequenceId d = layer.create();
  service.steps(block + 1, {b, d});  // d takes their blocks
  std::vector<BlockId> overwritten = blocks_of(d);
  overwritten.insert(overwritten.end(), blocks_of(b).begin(), blocks_of(b).end());
  for (BlockId id : freed)
    EXPECT_NE(std::find(overwritten.begin(), overwritten.end(), id), overwritten.end())
        << "block " << id << " was not taken again: the scenario shows nothing";

  // a comes back to other blocks and goes on; d, then b, end and c has room again.
  layer.resume(a);
  EXPECT_NE(blocks_of(a), freed);
  service.steps(2, {a, b, d});
  layer.free(d);
  layer.resume(c);
  service.steps(3, {c, a, b});
  layer.free(b);
  service.steps(block, {a, c});
  expect_undisturbed(service.outputs());
}

TEST_P(PreemptionScenarioTest, ARandomScheduleChangesNoBit) {
  Service service = service_with(9, 64);
  Layer& layer = service.layer();
  Random random(2024);
  std::vector<SequenceId> running, waiting;
  int preemptions = 0, resumptions = 0, forks = 0;
  const auto take = [&](std::vector<SequenceId>& from) {
    const auto it = from.begin() + random.below(static_cast<std::int64_t>(from.size()));
    const SequenceId sequence = *it;
    from.erase(it);
    return sequence;
  };
  const auto is_full = [&](SequenceId s) { return layer.tables().length(s) == 3 * 8 + 3; };

  for (int step = 0; step < 60; ++step) {
    const std::int64_t dice = random.below(6);
    if (running.empty() || (dice == 0 && running.size() < 4)) {
      running.push_back(layer.create());
    } else if (dice == 1 && running.size() < 5 && layer.tables().length(running.front()) > 0) {
      running.push_back(layer.fork(running.front()));
      ++forks;
    }
    for (auto it = running.begin(); it != running.end();) {
      const bool ends = is_full(*it);
      if (ends) layer.free(*it);
      it = ends ? running.erase(it) : it + 1;
    }
    // A step may take a block for each sequence. As a scheduler does: preempt until there is room.
    while (running.size() > static_cast<std::size_t>(layer.tables().device_blocks().num_free())) {
      waiting.push_back(take(running));
      layer.preempt(waiting.back());
      ++preemptions;
    }
    if (!waiting.empty() && random.below(3) == 0) {
      const std::size_t needs = layer.tables().blocks(waiting.front()).size() + running.size() + 1;
      if (needs <= static_cast<std::size_t>(layer.tables().device_blocks().num_free())) {
        running.push_back(waiting.front());
        waiting.erase(waiting.begin());
        layer.resume(running.back());
        ++resumptions;
      }
    }
    if (!running.empty()) service.step(running);
  }
  EXPECT_GE(preemptions, 3);
  EXPECT_GE(resumptions, 3);
  EXPECT_GE(forks, 3);
  EXPECT_GE(layer.copies_on_write(), 3);
  expect_undisturbed(service.outputs());
}

std::vector<ScenarioCase> scenario_cases() {
  std::vector<ScenarioCase> all;
  for (const ExecutionPlace& place : kEveryPlace)
    for (const Sizes& types : {Sizes{ScalarType::f16, CacheType::f16, 8, 1, 1},
                               Sizes{ScalarType::f16, CacheType::e4m3, 16, 0.25F, 0.5F},
                               Sizes{ScalarType::bf16, CacheType::bf16, 16, 1, 1}})
      all.push_back({place, types});
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, PreemptionScenarioTest,
                         ::testing::ValuesIn(scenario_cases()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace paged
