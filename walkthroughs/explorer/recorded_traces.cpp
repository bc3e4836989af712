// The page's data. One object:
//
//   lines      [["file:line", "code"], ...]
//   memories   names of tensors and shared variables
//   sites      [[line, phase, memory, shared 0/1, kind 0 load 1 store, bytes a lane], ...]
//   patterns   [[lanes as bits, step], ...] with lane i at step * i behind the first lane that takes part,
//              or [lanes as bits, [bytes behind the first lane, ...]] of the lanes that take part
//   setups     what is run: types, page size, length, table, query, and the caches' bytes in base64
//   traces     [setup][stage - 1]: CUDA blocks, each {launch, block, requests, values}
//   requests   flat: warp, barriers before, site, byte of the first lane, pattern, cost: sectors in device
//              memory, wavefronts in shared memory
//   values     by index of the request: floats by ascending byte; only what is not in query and caches
#include "walkthroughs/explorer/recorded_traces.h"

#include "kernels/simt/source_lines.h"
#include "reference/cache_layout.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

namespace paged {
namespace {

constexpr int kHeadSize = 64;
constexpr int kNumStages = 5;
constexpr int kPartitionSize = 32;  // so that short sequences have several

/// Texts or tuples, numbered as they come.
template <typename T>
class Numbered {
 public:
  int number_of(const T& item) {
    const auto [known, is_new] = numbers_.emplace(item, static_cast<int>(items_.size()));
    if (is_new) items_.push_back(item);
    return known->second;
  }
  const std::vector<T>& items() const { return items_; }

 private:
  std::map<T, int> numbers_;
  std::vector<T> items_;
};

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (c == '<')
      json += "\\u003c";  // the page must not see the end of its script
    else
      json += c;
  }
  return json + "\"";
}

std::string number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

template <typename Range, typename ToText>
std::string joined(const Range& range, ToText text) {
  std::string json;
  for (const auto& item : range) json += (json.empty() ? "" : ",") + text(item);
  return json;
}

std::string base64(const std::byte* bytes, std::size_t count) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < count; i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < count ? std::to_integer<unsigned>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > count ? '=' : kDigits[group >> (18 - 6 * k) & 63U];
  }
  return text;
}

/// A place in the code that asks for one kind of memory.
using Site = std::tuple<std::uintptr_t, int, int, bool, bool, int>;  // pc, phase, memory, ...
/// Lanes, and the bytes of each behind the first.
using Pattern = std::pair<unsigned, std::vector<std::int64_t>>;

class Recorder {
 public:
  std::string trace_json(const TracedStage& run);
  /// lines, memories, sites and patterns, when all traces are there.
  std::string tables_json() const;

 private:
  std::string request_json(const TracedStage& run, const simt::TracedRequest& request, int index,
                           std::string& values);

  Numbered<std::string> memories_;
  Numbered<Site> sites_;
  Numbered<Pattern> patterns_;
};

int phase_index(const CountedPhase& phase) { return phase ? static_cast<int>(*phase) + 1 : 0; }

/// The type of what a memory holds that the page cannot look up otherwise.
std::optional<CacheType> type_in(const TracedStage& run, const simt::TracedRequest& request) {
  if (request.shared) return CacheType::f32;
  for (const char* known : {"key_cache", "value_cache", "query", "block_tables", "seq_lens"})
    if (request.memory == known) return std::nullopt;
  return request.memory == "output" ? same_as(run.problem.scalar) : CacheType::f32;
}

std::string values_json(CacheType type, const simt::TracedRequest& request) {
  std::map<std::int64_t, std::string> by_byte;
  const std::size_t element = size_in_bytes(type);
  for (int lane = 0; lane < 32; ++lane) {
    if (!request.has(lane)) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(request.bytes) / element; ++i) {
      Tensor one(type, {1});
      std::memcpy(one.data(), request.values[lane].data() + i * element, element);
      by_byte[request.offsets[lane] + static_cast<std::int64_t>(i * element)] = number(one.read(0));
    }
  }
  return "[" + joined(by_byte, [](const auto& item) { return item.second; }) + "]";
}

std::string Recorder::request_json(const TracedStage& run, const simt::TracedRequest& request,
                                   int index, std::string& values) {
  const bool store = request.kind == simt::AccessKind::write;
  const int site =
      sites_.number_of({request.pc, phase_index(request.phase), memories_.number_of(request.memory),
                        request.shared, store, request.bytes});
  Pattern pattern{request.lanes, {}};
  const std::int64_t first = request.offsets[std::countr_zero(request.lanes)];
  for (int lane = 0; lane < 32; ++lane)
    if (request.has(lane)) pattern.second.push_back(request.offsets[lane] - first);
  const Counts& counts = request.counts;
  const std::uint64_t cost = request.shared
                                 ? counts.shared_load_wavefronts + counts.shared_store_wavefronts
                                 : counts.global_load_sectors + counts.global_store_sectors;
  if (const auto type = type_in(run, request);
      type && !(request.shared && request.memory == "query"))
    values += (values.empty() ? "\"" : ",\"") + std::to_string(index) +
              "\":" + values_json(*type, request);
  return joined(std::initializer_list<std::int64_t>{request.warp, request.barriers, site, first,
                                                    patterns_.number_of(pattern),
                                                    static_cast<std::int64_t>(cost)},
                [](std::int64_t n) { return std::to_string(n); });
}

std::string Recorder::trace_json(const TracedStage& run) {
  std::map<std::pair<int, std::uint64_t>, std::pair<std::string, std::string>> blocks;
  std::map<std::pair<int, std::uint64_t>, int> count;
  for (const simt::TracedRequest& request : run.requests) {
    const std::pair key(request.launch, request.block);
    auto& [requests, values] = blocks[key];
    requests += (requests.empty() ? "" : ",") + request_json(run, request, count[key]++, values);
  }
  return "[" +
         joined(blocks,
                [](const auto& block) {
                  return "{\"launch\":" + std::to_string(block.first.first) +
                         ",\"block\":" + std::to_string(block.first.second) + ",\"requests\":[" +
                         block.second.first + "],\"values\":{" + block.second.second + "}}";
                }) +
         "]";
}

std::string trimmed(const std::string& line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

/// The statement that begins at "file.cuh:12", wherever in the tree the file lies.
std::string code_of(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return "";
  for (const char* folder : {"/kernels/", "/stages/"}) {
    std::ifstream file(PAGED_ROOT + std::string(folder) + place.substr(0, colon));
    std::string line;
    int number = std::atoi(place.c_str() + colon + 1);
    while (number > 0 && std::getline(file, line)) --number;
    if (number != 0 || !file) continue;
    std::string code = trimmed(line);
    while (!code.ends_with(';') && !code.ends_with('{') && code.find("//") == std::string::npos &&
           std::getline(file, line))
      code += " " + trimmed(line);  // a statement over several lines
    return code;
  }
  return "";
}

std::string Recorder::tables_json() const {
  std::vector<std::uintptr_t> pcs;
  for (const Site& site : sites_.items()) pcs.push_back(std::get<0>(site));
  const simt::SourceLines found = simt::look_up_lines_of_accesses(pcs);
  Numbered<std::string> lines;
  const std::string sites = joined(sites_.items(), [&](const Site& site) {
    const auto& [pc, phase, memory, shared, store, bytes] = site;
    return "[" +
           joined(std::initializer_list<int>{lines.number_of(found.at(pc)), phase, memory, shared,
                                             store, bytes},
                  [](int n) { return std::to_string(n); }) +
           "]";
  });
  const std::string patterns = joined(patterns_.items(), [](const Pattern& pattern) {
    const auto& [lanes, bytes] = pattern;
    std::string places;
    const std::int64_t step = bytes.size() < 2 ? 0 : bytes[1];
    bool regular = true;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      regular = regular && bytes[i] == step * static_cast<std::int64_t>(i);
    if (regular) return "[" + std::to_string(lanes) + "," + std::to_string(step) + "]";
    return "[" + std::to_string(lanes) + ",[" +
           joined(bytes, [](std::int64_t n) { return std::to_string(n); }) + "]]";
  });
  return "\"lines\":[" +
         joined(lines.items(),
                [](const std::string& line) {
                  return "[" + quoted(line) + "," + quoted(code_of(line)) + "]";
                }) +
         "],\"memories\":[" + joined(memories_.items(), quoted) + "],\"sites\":[" + sites +
         "],\"patterns\":[" + patterns + "]";
}

/// Types and page size of a run.
struct Setup {
  ScalarType scalar;
  CacheType cache;
  int block_size;
  int seq_len;
};

CaseSpec case_of(const Setup& setup) {
  CaseSpec spec;
  spec.name = "explorer";
  spec.num_heads = spec.num_kv_heads = 1;
  spec.head_size = kHeadSize;
  spec.block_size = setup.block_size;
  spec.num_blocks = num_pages(setup.seq_len, setup.block_size) + 1;
  spec.scalar = setup.scalar;
  spec.cache = setup.cache;
  spec.seq_lens = {setup.seq_len};
  spec.query_values.kind = spec.key_values.kind = spec.value_values.kind = "peaked";
  spec.poison.tail = spec.poison.free_blocks = std::nan("");
  spec.partition_size = kPartitionSize;
  spec.variant = KernelVariant::v2;
  return spec;
}

std::string setup_json(const Setup& setup, const DecodeProblem& problem) {
  const int pages = num_pages(setup.seq_len, setup.block_size);
  std::vector<double> query;
  for (std::int64_t i = 0; i < problem.query.size(); ++i) query.push_back(problem.query.read(i));
  return "{\"scalar\":\"" + std::string(name_of(setup.scalar)) + "\",\"cache\":\"" +
         std::string(name_of(setup.cache)) +
         "\",\"blockSize\":" + std::to_string(setup.block_size) +
         ",\"tokens\":" + std::to_string(setup.seq_len) +
         ",\"headSize\":" + std::to_string(problem.head_size) +
         ",\"blocks\":" + std::to_string(problem.num_blocks()) + ",\"table\":[" +
         joined(std::vector<std::int32_t>(problem.block_table(0), problem.block_table(0) + pages),
                [](int n) { return std::to_string(n); }) +
         "],\"query\":[" + joined(query, number) + "],\"keys\":\"" +
         base64(problem.key_cache.data(), problem.key_cache.size_in_bytes()) + "\",\"values\":\"" +
         base64(problem.value_cache.data(), problem.value_cache.size_in_bytes()) + "\"}";
}

}  // namespace

std::string recorded_traces(Device& device) {
  Recorder recorder;
  std::string setups;
  std::string traces;
  for (const auto& [scalar, cache, block_size] : {std::tuple{ScalarType::f16, CacheType::f16, 8},
                                                  std::tuple{ScalarType::f16, CacheType::f16, 16},
                                                  std::tuple{ScalarType::f16, CacheType::f16, 32},
                                                  std::tuple{ScalarType::f32, CacheType::f32, 16},
                                                  std::tuple{ScalarType::f16, CacheType::e4m3, 16}})
    for (const int seq_len : {17, 40, 70}) {
      const Setup setup{scalar, cache, block_size, seq_len};
      const CaseSpec spec = case_of(setup);
      std::string of_setup;
      for (int stage = 1; stage <= kNumStages; ++stage) {
        const TracedStage run = trace_stage(device, stage, spec);
        if (stage == 1) setups += (setups.empty() ? "" : ",\n") + setup_json(setup, run.problem);
        of_setup += (of_setup.empty() ? "" : ",\n") + recorder.trace_json(run);
      }
      traces += (traces.empty() ? "[" : ",[") + of_setup + "]";
    }
  return "{" + recorder.tables_json() + ",\n\"partitionSize\":" + std::to_string(kPartitionSize) +
         ",\"setups\":[" + setups + "],\n\"traces\":[" + traces + "]}";
}

}  // namespace paged
