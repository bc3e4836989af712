// Numbers of the page on paging: how much of a KV cache is wasted, with the lengths of real requests.
#include "reference/cache_layout.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/claims.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace paged {
namespace {

/// Bytes of keys and values of one token, all layers.
struct Model {
  const char* name;
  int layers, kv_heads, head_size;
  std::int64_t bytes_per_token() const {
    return std::int64_t{2} * layers * kv_heads * head_size * 2;  // keys and values, f16
  }
};

void print_token_sizes() {
  std::cout << "Keys and values of one token, f16:\n\n";
  TextTable table(
      {"model's shape", "layers", "KV heads", "head size", "bytes a token", "8192 tokens"});
  for (const Model& model :
       {Model{"SmolLM2-135M", 30, 3, 64}, Model{"32 layers, 32 KV heads", 32, 32, 128},
        Model{"32 layers, 8 KV heads", 32, 8, 128}})
    table.add_row(
        {model.name, std::to_string(model.layers), std::to_string(model.kv_heads),
         std::to_string(model.head_size), std::to_string(model.bytes_per_token()),
         fixed(static_cast<double>(model.bytes_per_token()) * 8192 / (1 << 20), 0) + " MiB"});
  table.print(std::cout);
}

/// Share of reserved slots that hold no token.
double waste(const std::vector<int>& lengths, const std::function<std::int64_t(int)>& reserved) {
  std::int64_t used = 0;
  std::int64_t held = 0;
  for (const int length : lengths) {
    used += length;
    held += reserved(length);
  }
  return 1 - static_cast<double>(used) / static_cast<double>(held);
}

void print_waste(const char* service, const std::vector<int>& lengths, Claims& claims) {
  std::cout << '\n' << service << ": eight lengths for eight equal shares of the requests,";
  for (const int length : lengths) std::cout << ' ' << length;
  std::cout << "\n\n";
  TextTable table({"reserved for each sequence", "wasted slots", "sequences where one had been"});
  const auto mean = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), 0)) /
                    static_cast<double>(lengths.size());
  const auto add = [&](const std::string& name, const std::function<std::int64_t(int)>& reserved) {
    const double share = waste(lengths, reserved);
    // Of a cache that has 16384 slots for one sequence.
    table.add_row({name, fixed(100 * share, 1) + " %", fixed(16384.0 * (1 - share) / mean, 1)});
    return share;
  };
  const double most = add("16384 slots, the longest there can be", [](int) { return 16384; });
  const double longest = add("as many as the longest here", [&](int) {
    return *std::max_element(lengths.begin(), lengths.end());
  });
  add("the next power of two", [](int length) {
    std::int64_t size = 1;
    while (size < length) size *= 2;
    return size;
  });
  std::vector<double> paged;
  for (const int block_size : {8, 16, 32, 128, 512})
    paged.push_back(add("pages of " + std::to_string(block_size), [&](int length) {
      return std::int64_t{num_pages(length, block_size)} * block_size;
    }));
  table.print(std::cout);
  std::cout << '\n';
  claims.require(most > 0.6 && longest > 0.6,
                 "one contiguous piece for the longest wastes more than 60 %");
  claims.require(paged[1] < 0.04, "pages of 16 waste less than 4 %");
}

/// What a page costs beside its tail: entries of the block table.
void print_block_sizes(const std::vector<int>& lengths) {
  std::cout << "\nBlock sizes for these lengths (conversation):\n\n";
  TextTable table({"B", "mean waste a sequence", "(B - 1) / 2", "table entries a sequence"});
  for (const int block_size : {1, 8, 16, 32, 128}) {
    double slots = 0;
    double entries = 0;
    for (const int length : lengths) {
      const int pages = num_pages(length, block_size);
      slots += pages * block_size - length;
      entries += pages;
    }
    const auto count = static_cast<double>(lengths.size());
    table.add_row({std::to_string(block_size), fixed(slots / count, 1),
                   fixed((block_size - 1) / 2.0, 1), fixed(entries / count, 0)});
  }
  table.print(std::cout);
}

void tell(Claims& claims) {
  // Batches whose lengths stand for eight equal shares of the requests.
  const std::vector<int> conversation = find_case("request-mix-conversation").seq_lens;
  print_token_sizes();
  print_waste("Conversation", conversation, claims);
  print_waste("Code completion", find_case("request-mix-code").seq_lens, claims);
  print_block_sizes(conversation);
}

}  // namespace
}  // namespace paged

int main() { return paged::run_page("cache_waste", paged::tell); }
