// Ordinary memory for kernels from libraries: what lies beside a buffer cannot be touched.
#pragma once
#include "kernels/device.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paged {

/// An access that the system refused, in words that a signal handler can write down.
struct MemoryFault {
  enum class Kind : std::uint32_t {
    none,
    null,
    no_address,  ///< not one that memory can have
    stack,       ///< beyond the end of the stack
    before,
    past,
    inside,
    far
  };
  Kind kind = Kind::none;
  bool is_write = false;
  std::uint64_t address = 0;
  std::uint64_t distance = 0;      ///< bytes between the access and the buffer
  std::uint64_t buffer_bytes = 0;  ///< of the nearest buffer
  char buffer[32] = {};            ///< its name
};

/// "it read 16 bytes past the end of 'block_tables' (136 bytes)"; "" for none.
std::string to_string(const MemoryFault& fault);

/// Host memory whose buffers end where their pages end (but for the last bytes to a multiple of
/// 16), with 256 MiB on either side that nobody may touch: an access past the end is a signal,
/// wherever it goes. The bytes between the beginning of the page and that of the buffer hold a
/// pattern, which finish() looks at. Buffers are 16-byte aligned, as paged_decode.h promises and no
/// better.
class HostDevice : public Device {
 public:
  HostDevice() { limits_ = {"host memory", ~std::size_t{0}}; }
  ~HostDevice() override;
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  Backend backend() const override { return Backend::cpu; }
  const DeviceLimits& limits() const override { return limits_; }
  bool watches_accesses() const override { return false; }

  void* allocate(std::size_t bytes, const std::string& name) override;
  void release(void* memory) override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void forget(void*, std::size_t) override {}
  /// Looks for bytes that were written before or right behind a buffer.
  void finish() override;
  std::vector<Finding> take_findings() override { return std::exchange(findings_, {}); }

  /// What to say of a refused access. May be called in a signal handler.
  MemoryFault locate(std::uintptr_t address, bool is_write) const;

 private:
  struct Buffer {
    std::uint8_t* region;  ///< usable pages
    std::size_t region_bytes;
    std::uint8_t* data;
    std::size_t bytes;
    std::string name;
  };
  /// Usable pages that no buffer has now. They cannot be accessed, as if they were unmapped.
  struct FreeRegion {
    std::uint8_t* region;
    std::size_t bytes;
  };
  /// Usable pages between guards: free ones, else new ones; null if there is no address space.
  std::uint8_t* take_region(std::size_t bytes);
  void report(const Buffer& buffer, std::string_view what);

  DeviceLimits limits_;
  std::vector<Buffer> buffers_;
  std::vector<FreeRegion> free_;  ///< the last ones that were released: mapping costs most of a run
  std::vector<Finding> findings_;
};

}  // namespace paged
