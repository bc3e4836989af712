// What a kernel asks of memory: transactions, by step of the algorithm and by source line.
#pragma once
#include "kernels/phase.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paged {

/// Bytes of a sector, the least that a GPU moves between its caches and global memory.
inline constexpr int kSectorBytes = 32;

/// How often things happened. A request is one instruction of one warp, however many lanes took
/// part. Sums over warps and CUDA blocks.
struct Counts {
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;       ///< distinct ones within a request
  std::uint64_t global_load_useful_bytes = 0;  ///< distinct bytes that lanes of a request asked for
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_useful_bytes = 0;
  std::uint64_t shared_load_requests = 0;
  std::uint64_t shared_load_wavefronts = 0;  ///< passes over the banks: simt/wavefronts.h
  std::uint64_t shared_store_requests = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::uint64_t atomics = 0;   ///< requests, global and shared, that are in none of the above
  std::uint64_t barriers = 0;  ///< of whole CUDA blocks
  std::uint64_t shuffles = 0;  ///< instructions of a warp

  std::uint64_t useful_bytes() const {
    return global_load_useful_bytes + global_store_useful_bytes;
  }
  std::uint64_t moved_bytes() const {
    return kSectorBytes * (global_load_sectors + global_store_sectors);
  }

  friend bool operator==(const Counts&, const Counts&) = default;
  Counts& operator+=(const Counts& other);
};

/// One of the numbers. (An alias: what nvcc makes of the type itself, g++ warns of.)
using CountMember = std::uint64_t Counts::*;

/// A member of Counts and its name in tables and JSON.
struct CountName {
  const char* name;
  CountMember member;
};
inline constexpr CountName kCountNames[] = {
    {"global_load_requests", &Counts::global_load_requests},
    {"global_load_sectors", &Counts::global_load_sectors},
    {"global_load_useful_bytes", &Counts::global_load_useful_bytes},
    {"global_store_requests", &Counts::global_store_requests},
    {"global_store_sectors", &Counts::global_store_sectors},
    {"global_store_useful_bytes", &Counts::global_store_useful_bytes},
    {"shared_load_requests", &Counts::shared_load_requests},
    {"shared_load_wavefronts", &Counts::shared_load_wavefronts},
    {"shared_store_requests", &Counts::shared_store_requests},
    {"shared_store_wavefronts", &Counts::shared_store_wavefronts},
    {"atomics", &Counts::atomics},
    {"barriers", &Counts::barriers},
    {"shuffles", &Counts::shuffles}};

inline Counts& Counts::operator+=(const Counts& other) {
  for (const CountName& count : kCountNames) this->*count.member += other.*count.member;
  return *this;
}
inline Counts operator+(Counts a, const Counts& b) { return a += b; }
/// The same, `times` times over.
inline Counts operator*(std::uint64_t times, Counts counts) {
  for (const CountName& count : kCountNames) counts.*count.member *= times;
  return counts;
}

/// A step of the algorithm, or none: what a kernel does before it names its first one.
using CountedPhase = std::optional<Phase>;

inline const char* name_of(const CountedPhase& phase) { return phase ? name_of(*phase) : "start"; }

/// Every phase there is, in the order of the algorithm.
inline constexpr CountedPhase kCountedPhases[] = {std::nullopt,   Phase::gather, Phase::qk,
                                                  Phase::softmax, Phase::pv,     Phase::reduce};

/// Counts of each phase.
class CountsByPhase {
 public:
  Counts& operator[](const CountedPhase& phase) { return counts_[index_of(phase)]; }
  const Counts& operator[](const CountedPhase& phase) const { return counts_[index_of(phase)]; }
  Counts total() const {
    Counts sum;
    for (const Counts& counts : counts_) sum += counts;
    return sum;
  }
  friend bool operator==(const CountsByPhase&, const CountsByPhase&) = default;

 private:
  static std::size_t index_of(const CountedPhase& phase) {
    return phase ? static_cast<std::size_t>(*phase) + 1 : 0;
  }
  std::array<Counts, std::size(kCountedPhases)> counts_{};
};

/// What one line of the source did in one phase.
struct CountedLine {
  std::string line;  ///< "file:line", "" where it is not known
  CountedPhase phase;
  Counts counts;
};

/// What launches did.
struct LaunchCounts {
  CountsByPhase phases;
  std::vector<CountedLine> lines;  ///< by name and phase
  bool complete = true;            ///< false: a finding stopped a launch, and its rest is missing
};

}  // namespace paged
