#include "tests/harness/guarded_buffer.h"

#include <cstring>

namespace paged {
namespace {

constexpr std::size_t kGuardBytes = 1024;
constexpr std::uint8_t kGuardByte = 0x5A;

}  // namespace

GuardedBuffer::GuardedBuffer(Device& device, std::size_t bytes, const std::string& name)
    : device_(&device),
      name_(name),
      bytes_(bytes),
      guard_(device.backend() == Backend::cuda ? kGuardBytes : 0),
      buffer_(device, bytes + 2 * guard_, name) {
  if (guard_ == 0) return;
  const std::vector<std::uint8_t> zone(guard_, kGuardByte);
  auto* begin = static_cast<std::byte*>(buffer_.data());
  device.upload(begin, zone.data(), guard_);
  device.upload(begin + guard_ + bytes_, zone.data(), guard_);
}

void GuardedBuffer::fill(std::uint8_t byte) {
  const std::vector<std::uint8_t> content(bytes_, byte);
  upload(content.data());
}

std::string GuardedBuffer::damage() const {
  if (guard_ == 0) return "";
  std::vector<std::uint8_t> zone(guard_);
  const auto* begin = static_cast<const std::byte*>(buffer_.data());
  for (const bool after : {false, true}) {
    device_->download(zone.data(), after ? begin + guard_ + bytes_ : begin, guard_);
    for (std::size_t i = 0; i < guard_; ++i)
      if (zone[i] != kGuardByte)
        return "a byte outside '" + name_ + "' was written, " +
               (after ? std::to_string(i + 1) + " past its end"
                      : std::to_string(guard_ - i) + " before its start") +
               " (it has " + std::to_string(bytes_) + " bytes)";
  }
  return "";
}

bool GuardedBuffer::differs_from(const void* host) const {
  std::vector<std::uint8_t> content(bytes_);
  download(content.data());
  return bytes_ != 0 && std::memcmp(content.data(), host, bytes_) != 0;
}

}  // namespace paged
