#include "tests/harness/host_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace paged {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kGuard = std::size_t{256} << 20;
constexpr std::size_t kAlignment = 16;
constexpr std::uint8_t kPattern = 0x5A;
/// Of released memory, what is kept for buffers to come.
constexpr std::size_t kMostKeptBytes = std::size_t{1} << 20;
constexpr std::size_t kMostFreeRegions = 32;
/// Larger buffers keep the zeros that fresh pages have, and take no memory where nothing is
/// written.
constexpr std::size_t kMostFilledBytes = std::size_t{256} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

/// Usable pages between guards. Shared with nobody, but counted as shared memory: a limit on the
/// process's data is the kernel's alone.
std::uint8_t* map_region(std::size_t bytes) {
  void* all = mmap(nullptr, bytes + 2 * kGuard, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* const region = static_cast<std::uint8_t*>(all) + kGuard;
  if (mmap(region, bytes, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
    return region;
  munmap(all, bytes + 2 * kGuard);
  return nullptr;
}

void unmap(std::uint8_t* region, std::size_t bytes) { munmap(region - kGuard, bytes + 2 * kGuard); }

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

std::string to_string(const MemoryFault& fault) {
  const std::string what = fault.is_write ? "it wrote " : "it read ";
  const std::string bytes = fault.distance > 0 ? bytes_text(fault.distance) + " " : "right ";
  const std::string buffer =
      "'" + std::string(fault.buffer) + "' (" + std::to_string(fault.buffer_bytes) + " bytes)";
  switch (fault.kind) {
    case MemoryFault::Kind::none:
      return "";
    case MemoryFault::Kind::null:
      return what + "through a null pointer (address " + std::to_string(fault.address) + ")";
    case MemoryFault::Kind::no_address:
      return "it used an address that cannot exist";
    case MemoryFault::Kind::stack:
      return "its stack ran over (endless recursion, or large local arrays?)";
    case MemoryFault::Kind::before:
      return what + bytes + "before the start of " + buffer;
    case MemoryFault::Kind::past:
      return what + bytes + "past the end of " + buffer;
    case MemoryFault::Kind::inside:
      return what + "within " + buffer + ", which the system refused (no memory left?)";
    case MemoryFault::Kind::far:
      break;
  }
  return what + "at an address that is near none of the call's buffers; the nearest is " + buffer +
         ", " + std::to_string(fault.distance >> 20) + " MiB away";
}

HostDevice::~HostDevice() {
  while (!buffers_.empty()) release(buffers_.back().data);
  for (const FreeRegion& free : free_) unmap(free.region, free.bytes);
}

std::uint8_t* HostDevice::take_region(std::size_t bytes) {
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const FreeRegion& free) { return free.bytes == bytes; });
  if (found == free_.end()) return map_region(bytes);
  std::uint8_t* const region = found->region;
  free_.erase(found);
  return mprotect(region, bytes, PROT_READ | PROT_WRITE) == 0 ? region : nullptr;
}

void* HostDevice::allocate(std::size_t bytes, const std::string& name) {
  const std::size_t region_bytes =
      rounded_up(std::max<std::size_t>(rounded_up(bytes, kAlignment), 1), kPage);
  std::uint8_t* const region = take_region(region_bytes);
  if (region == nullptr)
    throw DeviceError("there are no " + std::to_string(bytes) + " bytes of address space for '" +
                      name + "': " + std::strerror(errno));
  std::uint8_t* const data = region + region_bytes - rounded_up(bytes, kAlignment);
  std::memset(region, kPattern, static_cast<std::size_t>(data - region));
  if (bytes <= kMostFilledBytes) std::memset(data, 0xFF, bytes);
  std::memset(data + bytes, kPattern,
              static_cast<std::size_t>(region + region_bytes - data) - bytes);
  buffers_.push_back({region, region_bytes, data, bytes, name});
  return data;
}

void HostDevice::release(void* memory) {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [&](const Buffer& buffer) { return buffer.data == memory; });
  if (found == buffers_.end()) return;
  if (found->region_bytes <= kMostKeptBytes &&
      mprotect(found->region, found->region_bytes, PROT_NONE) == 0) {
    free_.push_back({found->region, found->region_bytes});
    if (free_.size() > kMostFreeRegions) {
      unmap(free_.front().region, free_.front().bytes);
      free_.erase(free_.begin());
    }
  } else {
    unmap(found->region, found->region_bytes);
  }
  buffers_.erase(found);
}

void HostDevice::upload(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void HostDevice::download(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void HostDevice::finish() {
  const auto is_changed = [](std::uint8_t byte) { return byte != kPattern; };
  for (const Buffer& buffer : buffers_) {
    // From the buffer backwards: the byte next to it says most.
    const auto before = std::find_if(std::make_reverse_iterator(buffer.data),
                                     std::make_reverse_iterator(buffer.region), is_changed);
    if (before != std::make_reverse_iterator(buffer.region))
      report(buffer, bytes_text(static_cast<std::uint64_t>(buffer.data - before.base() + 1)) +
                         " before the start");
    std::uint8_t* const end = buffer.data + buffer.bytes;
    std::uint8_t* const past = std::find_if(end, buffer.region + buffer.region_bytes, is_changed);
    if (past != buffer.region + buffer.region_bytes)
      report(buffer, bytes_text(static_cast<std::uint64_t>(past - end)) + " past the end");
  }
}

void HostDevice::report(const Buffer& buffer, std::string_view what) {
  findings_.push_back({.kind = FindingKind::out_of_bounds_write,
                       .kernel = "the kernel",
                       .location = "",
                       .message = "it wrote " + std::string(what) + " of '" + buffer.name + "' (" +
                                  std::to_string(buffer.bytes) + " bytes)",
                       .advice = "look for an index that is negative, or one too large",
                       .schedule = ""});
}

MemoryFault HostDevice::locate(std::uintptr_t address, bool is_write) const {
  MemoryFault fault;
  fault.is_write = is_write;
  fault.address = address;
  fault.kind = address < kPage ? MemoryFault::Kind::null : MemoryFault::Kind::far;
  fault.distance = ~std::uint64_t{0};
  for (const Buffer& buffer : buffers_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data);
    const std::uintptr_t end = begin + buffer.bytes;
    const bool before = address < begin;
    const std::uint64_t distance = before ? begin - address : address >= end ? address - end : 0;
    if (distance >= fault.distance) continue;
    fault.distance = distance;
    fault.buffer_bytes = buffer.bytes;
    std::memset(fault.buffer, 0, sizeof fault.buffer);
    std::memcpy(fault.buffer, buffer.name.data(),
                std::min(buffer.name.size(), sizeof fault.buffer - 1));
    if (fault.kind == MemoryFault::Kind::null || distance > kGuard) continue;
    fault.kind = distance == 0 && !before && address < end ? MemoryFault::Kind::inside
                 : before                                  ? MemoryFault::Kind::before
                                                           : MemoryFault::Kind::past;
  }
  return fault;
}

}  // namespace paged
