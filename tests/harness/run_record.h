// What runs left behind that can be compared between builds: a hash of every output bit, and time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace paged {

/// FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo; RFC 9923) over any number of pieces. It
/// tells builds apart; it does not withstand anybody who wants two outputs to have one hash.
class BitHash {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ byte[i]) * 0x100000001B3U;
  }
  /// 16 hexadecimal digits.
  std::string text() const {
    std::string digits(16, '0');
    for (int i = 0; i < 16; ++i) digits[i] = "0123456789abcdef"[value_ >> (60 - 4 * i) & 0xF];
    return digits;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

/// Of all runs of a kernel since somebody asked last.
struct RunRecord {
  /// Hash of the bits of their outputs and LSEs in turn, 16 hexadecimal digits; "" without a run.
  std::string bits = {};
  double seconds = 0;  ///< wall time of their launches, copies left out; no measure of a GPU
};

}  // namespace paged
