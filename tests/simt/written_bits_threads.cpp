// Threads that mark, and look at, the same written bits at the same time, as the blocks of a racing
// kernel make the machine do: compiled with ThreadSanitizer, which says nothing if that is no data
// race in C++. Checks also that no mark is lost.
#include "kernels/simt/written_bits.h"

#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace paged::simt;

constexpr std::size_t kBytes = 4096;
constexpr int kThreads = 4;

/// Marks its own bytes of every row of 4, in between all of some, and looks at everything.
void mark_and_look(std::uint8_t* bits, std::size_t own, std::size_t& seen) {
  for (std::size_t i = own; i < kBytes; i += kThreads) mark_written(bits, i, 1);
  for (std::size_t i = 0; i < kBytes; i += 16) {
    seen += all_written<16>(bits, i) ? 1 : 0;
    seen += all_written<8>(bits, i) ? 1 : 0;
    seen += all_written<2>(bits, i) ? 1 : 0;
    seen += count_unwritten(bits, i, 16);
    mark_written(bits, i, 8);
  }
}

/// The same with the plain accesses that would be wrong: to see that it is noticed.
void mark_plainly(std::uint8_t* bits, std::size_t own, std::size_t& seen) {
  for (std::size_t i = own; i < kBytes; i += kThreads) {
    bits[i / kBytesPerBits] = static_cast<std::uint8_t>(bits[i / kBytesPerBits] | 1U << i % 8);
    seen += bits[0];
  }
}

}  // namespace

int main(int argc, char**) {
  std::vector<std::uint8_t> bits(kBytes / kBytesPerBits);
  std::vector<std::size_t> seen(kThreads * 16);  // a cache line each
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < kThreads; ++own)
    threads.emplace_back(argc > 1 ? mark_plainly : mark_and_look, bits.data(), own,
                         std::ref(seen[own * 16]));
  for (std::thread& thread : threads) thread.join();
  const std::size_t left = count_unwritten(bits.data(), 0, kBytes);
  std::printf("%zu of %zu marks were lost\n", left, kBytes);
  return left == 0 ? 0 : 1;
}
