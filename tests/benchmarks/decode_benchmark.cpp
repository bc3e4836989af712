// Times the stages on a GPU over the shapes of docs/measurements, and checks each before it is
// timed.
//
// Time per call: a CUDA graph of several calls, each on caches of its own so that the L2 cache is
// cold, replayed many times; the median replay divided by the number of calls. Keys, values and
// queries are normal numbers; physical blocks are in random order.
//
// Usage: decode_benchmark [--json FILE] [--stages 4,5] [--types f16,bf16,e4m3] [--only TEXT]
//                         [--crossover] [--commit TEXT]
#include "kernels/device.h"
#include "reference/cache_layout.h"
#include "stages/registry.h"
#include "tests/benchmarks/normal_device_memory.h"
#include "tests/harness/comparison.h"
#include "tests/harness/output_file.h"
#include "tests/harness/random.h"
#include "tests/harness/text_table.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace paged {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw DeviceError(cudaGetErrorString(status));
}

/// Device memory that frees itself.
class Memory {
 public:
  explicit Memory(std::size_t bytes) { check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 1))); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  template <typename T = void>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

/// One line of the table.
struct BenchmarkShape {
  int num_heads, num_kv_heads;
  std::string name;
  std::vector<int> seq_lens;
};

std::vector<BenchmarkShape> shapes() {
  const auto equal = [](int batch, int length) { return std::vector<int>(batch, length); };
  Random random(2024);
  std::vector<int> mixed(256);
  for (int& length : mixed) length = 16 + static_cast<int>(random.below(4081));
  return {{32, 32, "1 x 1k", equal(1, 1024)},     {32, 32, "1 x 8k", equal(1, 8192)},
          {32, 32, "1 x 32k", equal(1, 32768)},   {32, 32, "8 x 4k", equal(8, 4096)},
          {32, 32, "32 x 2k", equal(32, 2048)},   {32, 32, "64 x 4k", equal(64, 4096)},
          {32, 32, "128 x 8k", equal(128, 8192)}, {32, 32, "256 mixed", mixed},
          {32, 8, "1 x 1k", equal(1, 1024)},      {32, 8, "1 x 8k", equal(1, 8192)},
          {32, 8, "1 x 32k", equal(1, 32768)},    {32, 8, "1 x 128k", equal(1, 131072)},
          {32, 8, "32 x 2k", equal(32, 2048)},    {32, 8, "64 x 4k", equal(64, 4096)},
          {32, 8, "128 x 8k", equal(128, 8192)},  {32, 8, "256 mixed", mixed},
          {64, 8, "1 x 1k", equal(1, 1024)},      {64, 8, "1 x 8k", equal(1, 8192)},
          {64, 8, "64 x 4k", equal(64, 4096)},    {64, 8, "128 x 8k", equal(128, 8192)}};
}

constexpr int kHeadSize = 128;
constexpr int kBlockSize = 16;
/// More than the L2 cache of any GPU of today, several times.
constexpr std::size_t kColdBytes = std::size_t{320} << 20;

/// A batch in device memory, with as many copies of the caches as cold measurements need.
class Batch {
 public:
  Batch(const BenchmarkShape& shape, ScalarType scalar, CacheType cache);

  DecodeShape sizes() const;
  std::size_t cache_bytes() const { return 2 * element_count_ * size_in_bytes(cache_); }
  int copies() const { return static_cast<int>(keys_.size()); }
  paged_decode_args arguments(int copy, KernelVariant variant, void* workspace) const;
  /// The problem of one sequence and one query head, downloaded.
  DecodeProblem one_head(int copy, int seq, int head) const;
  const Memory& output() const { return *output_; }
  const Memory& lse() const { return *lse_; }

 private:
  std::unique_ptr<Memory> filled(CacheType type, std::size_t count, std::uint64_t seed);

  BenchmarkShape shape_;
  ScalarType scalar_;
  CacheType cache_;
  int width_ = 0;
  std::int64_t num_blocks_ = 0;
  std::size_t element_count_ = 0;  // of one cache
  std::vector<std::int32_t> table_;
  std::vector<std::unique_ptr<Memory>> keys_, values_;
  std::unique_ptr<Memory> query_, table_memory_, lengths_, output_, lse_;
};

std::unique_ptr<Memory> Batch::filled(CacheType type, std::size_t count, std::uint64_t seed) {
  auto memory = std::make_unique<Memory>(count * size_in_bytes(type));
  fill_normal(type, memory->as(), static_cast<std::int64_t>(count), seed);
  return memory;
}

Batch::Batch(const BenchmarkShape& shape, ScalarType scalar, CacheType cache)
    : shape_(shape), scalar_(scalar), cache_(cache) {
  for (int length : shape.seq_lens) {
    width_ = std::max(width_, num_pages(length, kBlockSize));
    num_blocks_ += num_pages(length, kBlockSize);
  }
  const std::vector<std::int32_t> order = Random(7).permutation(num_blocks_);
  auto next = order.begin();
  for (int length : shape.seq_lens) {
    const int pages = num_pages(length, kBlockSize);
    table_.insert(table_.end(), next, next + pages);
    table_.insert(table_.end(), width_ - pages, -1);
    next += pages;
  }
  element_count_ =
      static_cast<std::size_t>(num_blocks_) * shape.num_kv_heads * kHeadSize * kBlockSize;
  const std::size_t rows = shape.seq_lens.size() * shape.num_heads;
  const std::size_t copies = std::clamp<std::size_t>(kColdBytes / cache_bytes(), 1, 80);
  for (std::size_t copy = 0; copy < copies; ++copy) {
    keys_.push_back(filled(cache_, element_count_, 100 + copy));
    values_.push_back(filled(cache_, element_count_, 200 + copy));
  }
  query_ = filled(same_as(scalar_), rows * kHeadSize, 1);
  table_memory_ = std::make_unique<Memory>(table_.size() * 4);
  lengths_ = std::make_unique<Memory>(shape.seq_lens.size() * 4);
  output_ = std::make_unique<Memory>(rows * kHeadSize * size_in_bytes(scalar_));
  lse_ = std::make_unique<Memory>(rows * 4);
  check(cudaMemcpy(table_memory_->as(), table_.data(), table_.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(lengths_->as(), shape.seq_lens.data(), shape.seq_lens.size() * 4,
                   cudaMemcpyHostToDevice));
}

DecodeShape Batch::sizes() const {
  DecodeShape sizes;
  sizes.num_seqs = static_cast<int>(shape_.seq_lens.size());
  sizes.num_heads = shape_.num_heads;
  sizes.num_kv_heads = shape_.num_kv_heads;
  sizes.head_size = kHeadSize;
  sizes.block_size = kBlockSize;
  sizes.num_blocks = num_blocks_;
  sizes.max_num_blocks_per_seq = width_;
  sizes.max_seq_len = *std::max_element(shape_.seq_lens.begin(), shape_.seq_lens.end());
  sizes.scalar = scalar_;
  sizes.cache = cache_;
  return sizes;
}

paged_decode_args Batch::arguments(int copy, KernelVariant variant, void* workspace) const {
  const DecodeShape sizes = this->sizes();
  const CacheStrides strides = contiguous_strides(sizes.num_kv_heads, kHeadSize, kBlockSize);
  paged_decode_args args{};
  args.version = PAGED_DECODE_VERSION;
  args.scalar = static_cast<int>(same_as(scalar_));
  args.cache = static_cast<int>(cache_);
  args.num_seqs = sizes.num_seqs;
  args.num_heads = sizes.num_heads;
  args.num_kv_heads = sizes.num_kv_heads;
  args.head_size = kHeadSize;
  args.block_size = kBlockSize;
  args.num_blocks = num_blocks_;
  args.max_num_blocks_per_seq = width_;
  args.max_seq_len = sizes.max_seq_len;
  args.query = query_->as();
  args.query_stride = static_cast<std::int64_t>(sizes.num_heads) * kHeadSize;
  args.key_cache = keys_[copy]->as();
  args.value_cache = values_[copy]->as();
  args.key_block_stride = args.value_block_stride = strides.block_stride;
  args.key_head_stride = args.value_head_stride = strides.head_stride;
  args.block_tables = table_memory_->as<const std::int32_t>();
  args.seq_lens = lengths_->as<const std::int32_t>();
  args.scale = 1 / std::sqrt(static_cast<float>(kHeadSize));
  args.k_scale = args.v_scale = 1;
  args.sparse_vert_stride = 1;
  args.sparse_block_size = 64;
  args.output = output_->as();
  args.lse = lse_->as<float>();
  args.workspace = workspace;
  args.partition_size = sizes.partition_size;
  args.variant = static_cast<int>(variant);
  return args;
}

DecodeProblem Batch::one_head(int copy, int seq, int head) const {
  DecodeProblem problem;
  problem.num_heads = problem.num_kv_heads = 1;
  problem.head_size = kHeadSize;
  problem.block_size = kBlockSize;
  problem.scalar = scalar_;
  problem.scale = 1 / std::sqrt(static_cast<float>(kHeadSize));
  problem.seq_lens = {shape_.seq_lens[seq]};
  const int pages = num_pages(problem.seq_lens[0], kBlockSize);
  problem.max_num_blocks_per_seq = pages;
  problem.query = Tensor(same_as(scalar_), {1, 1, kHeadSize});
  problem.key_cache = make_key_cache(cache_, pages, 1, kHeadSize, kBlockSize);
  problem.value_cache = make_value_cache(cache_, pages, 1, kHeadSize, kBlockSize);
  const std::size_t row = (static_cast<std::size_t>(seq) * shape_.num_heads + head) * kHeadSize * 2;
  check(cudaMemcpy(problem.query.data(), query_->as<char>() + row, kHeadSize * 2,
                   cudaMemcpyDeviceToHost));
  const int kv_head = kv_head_of(head, shape_.num_heads, shape_.num_kv_heads);
  const std::size_t page_bytes = kHeadSize * kBlockSize * size_in_bytes(cache_);
  for (int page = 0; page < pages; ++page) {
    problem.block_tables.push_back(page);
    const std::int64_t block = table_[static_cast<std::size_t>(seq) * width_ + page];
    const std::size_t from = (block * shape_.num_kv_heads + kv_head) * page_bytes;
    check(cudaMemcpy(problem.key_cache.data() + page * page_bytes, keys_[copy]->as<char>() + from,
                     page_bytes, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(problem.value_cache.data() + page * page_bytes,
                     values_[copy]->as<char>() + from, page_bytes, cudaMemcpyDeviceToHost));
  }
  problem.validate();
  return problem;
}

/// Compares a few heads of the output with the reference. Returns "" or what is wrong.
std::string wrong_output(const Batch& batch, const Stage& stage, int copy) {
  const DecodeShape sizes = batch.sizes();
  Random random(3);
  for (int probe = 0; probe < 3; ++probe) {
    const int seq = static_cast<int>(random.below(sizes.num_seqs));
    const int head = static_cast<int>(random.below(sizes.num_heads));
    const DecodeProblem problem = batch.one_head(copy, seq, head);
    DecodeOutputs outputs;
    outputs.output = Tensor(same_as(sizes.scalar), {1, 1, kHeadSize});
    outputs.lse.resize(1);
    const std::size_t row = static_cast<std::size_t>(seq) * sizes.num_heads + head;
    check(cudaMemcpy(outputs.output.data(), batch.output().as<char>() + row * kHeadSize * 2,
                     kHeadSize * 2, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(outputs.lse.data(), batch.lse().as<float>() + row, 4, cudaMemcpyDeviceToHost));
    const Comparison comparison =
        compare(problem, outputs, reference_answer(problem, stage.arithmetic));
    if (!comparison.passed) return comparison.message;
  }
  return "";
}

struct Timing {
  double microseconds = 0;  // median
  double spread = 0;        // (90 % quantile - 10 % quantile) / median
};

/// Median time of a call, from replays of a graph of `calls` calls.
Timing time_calls(int calls, const std::function<void(int call, cudaStream_t)>& launch_call) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int call = 0; call < calls; ++call) launch_call(call, stream);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&replay, graph, 0));
  std::vector<double> times;
  for (int run = 0; run < 25; ++run) {
    check(cudaEventRecord(begin, stream));
    check(cudaGraphLaunch(replay, stream));
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (run >= 4) times.push_back(1000.0 * milliseconds / calls);
  }
  std::sort(times.begin(), times.end());
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  const double median = times[times.size() / 2];
  return {median, (times[times.size() * 9 / 10] - times[times.size() / 10]) / median};
}

struct Row {
  std::string stage, type, shape, variant;
  int num_heads, num_kv_heads;
  double megabytes;
  Timing timing;
  std::string wrong;
};

/// Runs one stage on one batch: first checked, then timed. Nothing if the device refuses the shape.
void run_stage(const Stage& stage, const Batch& batch, const BenchmarkShape& shape,
               KernelVariant variant, const std::string& variant_name, std::vector<Row>& rows) {
  DecodeShape sizes = batch.sizes();
  sizes.variant = variant;
  int shared_limit = 0;
  check(cudaDeviceGetAttribute(&shared_limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const LaunchPlan plan = stage.plan(sizes);
  if (plan.shared_bytes + 4096 > static_cast<std::size_t>(shared_limit)) return;
  const Memory workspace(plan.workspace_bytes);
  stage.run(batch.arguments(0, variant, workspace.as()));
  check(cudaDeviceSynchronize());
  Row row{stage.name,
          std::string(name_of(sizes.cache)),
          shape.name,
          variant_name,
          shape.num_heads,
          shape.num_kv_heads,
          batch.cache_bytes() / 1e6,
          {},
          wrong_output(batch, stage, 0)};
  if (row.wrong.empty()) {
    const int calls = std::max(batch.copies(), 4);
    row.timing = time_calls(calls, [&](int call, cudaStream_t stream) {
      paged_decode_args args = batch.arguments(call % batch.copies(), variant, workspace.as());
      args.stream = stream;
      stage.run(args);
    });
  }
  rows.push_back(row);
  std::printf("%-21s %-5s %2d/%-2d %-10s %-5s %8.1f MB %9.1f us  %7.0f GB/s  +-%3.0f %%  %s\n",
              row.stage.c_str(), row.type.c_str(), row.num_heads, row.num_kv_heads,
              row.shape.c_str(), row.variant.c_str(), row.megabytes, row.timing.microseconds,
              row.wrong.empty() ? row.megabytes * 1e3 / row.timing.microseconds : 0.0,
              100 * row.timing.spread, row.wrong.c_str());
  std::fflush(stdout);
}

/// Everything asked for on the command line.
struct Request {
  std::string json, only, commit, command;
  std::vector<std::string> stages = {"5"}, types = {"f16"};
  bool crossover = false;
};

/// Batches and contexts around which V1 and V2 change places.
std::vector<BenchmarkShape> crossover_shapes() {
  std::vector<BenchmarkShape> list;
  for (const auto& [heads, kv_heads] : {std::pair{32, 32}, std::pair{32, 8}, std::pair{64, 8}})
    for (int batch : {1, 4, 8, 16, 24, 32, 64, 128})
      for (int length : {512, 1024, 2048, 4096, 6144, 8192}) {
        if (static_cast<std::int64_t>(batch) * length * kv_heads > (std::int64_t{1} << 24))
          continue;
        list.push_back({heads, kv_heads, std::to_string(batch) + " x " + std::to_string(length),
                        std::vector<int>(batch, length)});
      }
  return list;
}

nlohmann::json json_of(const Request& request, const std::vector<Row>& rows) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, 0));
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows)
    list.push_back({{"stage", row.stage},
                    {"type", row.type},
                    {"num_heads", row.num_heads},
                    {"num_kv_heads", row.num_kv_heads},
                    {"shape", row.shape},
                    {"variant", row.variant},
                    {"megabytes", row.megabytes},
                    {"microseconds", row.timing.microseconds},
                    {"spread", row.timing.spread},
                    {"wrong", row.wrong}});
  return {{"device", device.name},
          {"commit", request.commit},
          {"command", request.command},
          {"head_size", kHeadSize},
          {"block_size", kBlockSize},
          {"method", "graph replay, caches cold, physical blocks in random order, median of 21"},
          {"results", list}};
}

int measure(const Request& request) {
  std::unique_ptr<OutputFile> file;
  if (!request.json.empty()) file = std::make_unique<OutputFile>(request.json);
  std::vector<Row> rows;
  for (const BenchmarkShape& shape : request.crossover ? crossover_shapes() : shapes()) {
    const std::string label = std::to_string(shape.num_heads) + "/" +
                              std::to_string(shape.num_kv_heads) + " " + shape.name;
    if (label.find(request.only) == std::string::npos) continue;
    for (const std::string& type : request.types) {
      const CacheType cache = *cache_type_named(type);
      const Batch batch(shape, is_fp8(cache) ? ScalarType::f16 : *scalar_type_named(type), cache);
      for (const std::string& number : request.stages) {
        const Stage& stage = find_stage(number, Backend::cuda);
        if (!request.crossover)
          run_stage(stage, batch, shape, KernelVariant::automatic, "auto", rows);
        if (stage.number == 5) run_stage(stage, batch, shape, KernelVariant::v1, "v1", rows);
        if (stage.number == 5) run_stage(stage, batch, shape, KernelVariant::v2, "v2", rows);
      }
    }
  }
  if (file) file->commit(json_of(request, rows).dump(2) + "\n");
  return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.wrong.empty(); })
             ? 0
             : 1;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  CLI::App program("Checks and times the stages on a GPU.");
  paged::Request request;
  // Without folders of this machine, which say nothing about what was measured. (A relative
  // argument stays as it is: a shape's name, such as "64/8 1 x 1k", has a slash, too.)
  for (int i = 0; i < argc; ++i) {
    const std::filesystem::path argument(argv[i]);
    const bool shorten = i == 0 || argument.is_absolute();
    request.command += (i > 0 ? " " : "") + (shorten ? argument.filename() : argument).string();
  }
  program.add_option("--json", request.json, "write the results")->type_name("FILE");
  program.add_option("--stages", request.stages, "stages")->delimiter(',');
  program.add_option("--types", request.types, "types of the caches: f16, bf16, e4m3 beside f16")
      ->delimiter(',')
      ->check(CLI::IsMember({"f16", "bf16", "e4m3"}));
  program.add_option("--only", request.only, "only shapes whose name contains this");
  program.add_flag("--crossover", request.crossover,
                   "instead of the usual shapes, those at which V1 and V2 change places");
  program.add_option("--commit", request.commit, "what to record as the version that was measured");
  CLI11_PARSE(program, argc, argv);
  try {
    return paged::measure(request);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decode_benchmark: %s\n", error.what());
    return 1;
  }
}
