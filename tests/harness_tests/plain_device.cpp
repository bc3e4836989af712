#include "tests/harness_tests/plain_device.h"

#include <cstring>
#include <new>

namespace paged::testing {

constexpr std::align_val_t kAlignment{256};

void* PlainDevice::allocate(std::size_t bytes, const std::string&) {
  void* memory = ::operator new(bytes + 1, kAlignment);
  // As the CPU machine has it: what is huge takes address space only.
  if (bytes <= std::size_t{256} << 20) std::memset(memory, 0xFF, bytes);
  return memory;
}

void PlainDevice::release(void* memory) { ::operator delete(memory, kAlignment); }

void PlainDevice::upload(void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}

void PlainDevice::download(void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

void PlainDevice::report_read_outside(const char* what) {
  if (!findings_.empty()) return;  // one is enough
  findings_.push_back({.kind = FindingKind::out_of_bounds_read,
                       .kernel = "plain_attention",
                       .location = "",
                       .message = std::string(what) + " outside its allocation",
                       .advice = "",
                       .schedule = ""});
}

}  // namespace paged::testing
