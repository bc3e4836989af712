// The memory of the CPU device: named allocations with guards around them, and for each byte
// whether anything wrote it.
#pragma once
#include "kernels/simt/allocation.h"
#include "kernels/simt/released_memory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>

namespace paged::simt {

/// All allocations of the process. Thread-safe.
class DeviceMemory {
 public:
  /// No access is possible to so many bytes before and after an allocation.
  static constexpr std::size_t kGuardBytes = std::size_t{16} << 20;
  /// Fresh memory holds 0xFF up to this size; larger allocations are left as they come (zeros), so
  /// that only pages that are used take memory.
  static constexpr std::size_t kMostFilledBytes = std::size_t{256} << 20;

  /// Throws DeviceError when memory is short.
  void* allocate(std::size_t bytes, const std::string& name);
  /// Throws DeviceError if memory is not the start of a live allocation. Null is ignored.
  void release(void* memory);

  void upload(void* device, const void* host, std::size_t bytes);
  /// How many of the bytes nothing has written, and the first of them.
  struct Unwritten {
    std::string allocation;
    std::size_t bytes = 0;
    std::size_t first = 0;
  };
  Unwritten download(void* host, const void* device, std::size_t bytes);

  /// Takes it back that anything wrote these bytes; they keep their values.
  void forget(void* device, std::size_t bytes);

  /// From here on the host cannot touch memory but by upload() and download(), as with a GPU's: the
  /// process ends by SIGSEGV. Kernels can.
  void close_to_host();
  /// A launch, for as long as it lives.
  class Launching {
   public:
    explicit Launching(DeviceMemory& memory) : memory_(memory) { memory_.open_all(true); }
    ~Launching() { memory_.open_all(false); }
    Launching(const Launching&) = delete;
    Launching& operator=(const Launching&) = delete;

   private:
    DeviceMemory& memory_;
  };

  /// A kernel without checks is about to run: what is written is not known any more.
  void stop_tracking();

  /// The allocation that holds an address, or null.
  const Allocation* find(std::uintptr_t address) const;
  /// Where an address lies that no allocation holds: "12 bytes past the end of 'x' (40 bytes)".
  std::string describe(std::uintptr_t address) const;

 private:
  GuardedPages pages_for(std::size_t bytes);
  const Allocation& holding(const void* memory, std::size_t bytes, const char* copy) const;

  void open_all(bool open);
  /// Opens or closes one allocation's data, if they are closed to the host at all.
  void open(const Allocation& allocation, bool open) const;

  mutable std::shared_mutex mutex_;
  bool closed_to_host_ = false;
  std::map<std::uintptr_t, Allocation> live_;  // by address
  ReleasedMemory released_;
};

/// The memory of the process's CPU device.
DeviceMemory& device_memory();

}  // namespace paged::simt
