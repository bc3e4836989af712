#include "kernels/simt/device_memory.h"

#include "kernels/device.h"
#include "kernels/simt/written_bits.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

namespace paged::simt {

namespace {

constexpr std::size_t kPage = 4096;

[[noreturn]] void throw_short_of_memory(std::size_t bytes, const std::string& name) {
  throw DeviceError("the CPU device has no " + std::to_string(bytes) + " bytes for '" + name +
                    "': " + std::strerror(errno));
}

std::string of_allocation(const Allocation& allocation) {
  return "'" + allocation.name + "' (" + std::to_string(allocation.bytes) + " bytes)";
}

// How far an address lies before or after an allocation that does not hold it.
std::size_t distance(const Allocation& allocation, std::uintptr_t address) {
  return address < allocation.begin() ? allocation.begin() - address : address - allocation.end();
}

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes, const std::string& name) {
  if (bytes > ~std::size_t{0} / 4) throw_short_of_memory(bytes, name);
  Allocation allocation;
  allocation.name = name;
  allocation.bytes = bytes;
  allocation.bits = GuardedPages::map(bytes / kBytesPerBits + 1, 0);
  if (allocation.bits.data == nullptr) throw_short_of_memory(bytes, name);
  const std::unique_lock lock(mutex_);
  allocation.pages = pages_for(bytes);
  if (allocation.pages.data == nullptr) {
    allocation.bits.unmap();
    throw_short_of_memory(bytes, name);
  }
  if (bytes <= kMostFilledBytes) std::memset(allocation.memory(), 0xFF, whole_pages(bytes));
  open(allocation, false);
  return live_.emplace(allocation.begin(), allocation).first->second.memory();
}

/// All usable, none fresh if an older allocation's will do.
GuardedPages DeviceMemory::pages_for(std::size_t bytes) {
  GuardedPages used = released_.take(bytes);
  if (used.data == nullptr) return GuardedPages::map(bytes, kGuardBytes);
  if (!used.open(bytes)) used.unmap();
  return used;
}

void DeviceMemory::release(void* memory) {
  if (memory == nullptr) return;
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == live_.end())
    throw DeviceError("release of an address that is not the start of a device allocation");
  found->second.bits.unmap();
  released_.add(found->second);
  live_.erase(found);
}

const Allocation* DeviceMemory::find(std::uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const Allocation& allocation = std::prev(after)->second;
  return address < allocation.end() ? &allocation : nullptr;
}

const Allocation& DeviceMemory::holding(const void* memory, std::size_t bytes,
                                        const char* copy) const {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  // An allocation of 0 bytes, and the end of any, hold a copy of 0 bytes.
  const Allocation* allocation = find(address);
  if (allocation == nullptr || bytes > allocation->end() - address)
    throw DeviceError(std::string(copy) + " of " + std::to_string(bytes) + " bytes " +
                      (allocation == nullptr ? describe(address)
                                             : "past the end of " + of_allocation(*allocation)));
  return *allocation;
}

void DeviceMemory::upload(void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  const Allocation& allocation = holding(device, bytes, "upload");
  open(allocation, true);
  std::memcpy(device, host, bytes);
  open(allocation, false);
  mark_written(allocation.written(),
               static_cast<std::size_t>(static_cast<std::uint8_t*>(device) - allocation.memory()),
               bytes);
}

DeviceMemory::Unwritten DeviceMemory::download(void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return {};
  const Allocation& allocation = holding(device, bytes, "download");
  open(allocation, true);
  std::memcpy(host, device, bytes);
  open(allocation, false);
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::uint8_t*>(device) - allocation.memory());
  Unwritten unwritten;
  if (!allocation.tracked) return unwritten;
  unwritten.allocation = allocation.name;
  unwritten.bytes = count_unwritten(allocation.written(), offset, bytes);
  if (unwritten.bytes != 0) unwritten.first = first_unwritten(allocation.written(), offset, bytes);
  return unwritten;
}

void DeviceMemory::forget(void* device, std::size_t bytes) {
  if (bytes == 0) return;
  const Allocation& allocation = holding(device, bytes, "forget");
  const auto begin =
      static_cast<std::size_t>(static_cast<std::uint8_t*>(device) - allocation.memory());
  const std::size_t end = begin + bytes;
  // Whole pages of bits are given back and come again as zeros: an allocation may be larger than
  // memory.
  constexpr std::size_t kBytesPerPage = kPage * kBytesPerBits;
  const std::size_t first_page = (begin + kBytesPerPage - 1) / kBytesPerPage;
  const std::size_t last_page = end / kBytesPerPage;
  if (first_page >= last_page || madvise(allocation.written() + first_page * kPage,
                                         (last_page - first_page) * kPage, MADV_DONTNEED) != 0)
    return mark_unwritten(allocation.written(), begin, bytes);
  mark_unwritten(allocation.written(), begin, first_page * kBytesPerPage - begin);
  mark_unwritten(allocation.written(), last_page * kBytesPerPage, end - last_page * kBytesPerPage);
}

void DeviceMemory::close_to_host() {
  closed_to_host_ = true;
  open_all(false);
}

void DeviceMemory::open_all(bool open_for_launch) {
  if (!closed_to_host_) return;
  const std::shared_lock lock(mutex_);
  for (const auto& [address, allocation] : live_) open(allocation, open_for_launch);
}

void DeviceMemory::open(const Allocation& allocation, bool open) const {
  if (!closed_to_host_) return;
  // Refused, it stays as it is: who needs it open ends by SIGSEGV, and who must not is no worse off
  // than anywhere else.
  [[maybe_unused]] const bool done =
      open ? allocation.pages.open(allocation.bytes) : allocation.pages.close();
}

void DeviceMemory::stop_tracking() {
  const std::unique_lock lock(mutex_);
  for (auto& [address, allocation] : live_) allocation.tracked = false;
}

std::string DeviceMemory::describe(std::uintptr_t address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* nearest = nullptr;
  const auto after = live_.upper_bound(address);
  if (after != live_.end()) nearest = &after->second;
  if (after != live_.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (nearest == nullptr || distance(before, address) < distance(*nearest, address))
      nearest = &before;
  }
  if (const Allocation* released = released_.find(address))
    return "at byte " + std::to_string(address - released->begin()) + " of " +
           of_allocation(*released) + ", which has been released";
  const std::size_t bytes = nearest == nullptr ? 0 : distance(*nearest, address);
  if (nearest == nullptr || bytes >= kGuardBytes) return "at an address that is no device memory";
  if (bytes == 0) return "right past the end of " + of_allocation(*nearest);
  return std::to_string(bytes) +
         (address < nearest->begin() ? " bytes before " : " bytes past the end of ") +
         of_allocation(*nearest);
}

DeviceMemory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

}  // namespace paged::simt
