// How messages name a place in a tensor and the number found there.
#pragma once
#include <cmath>
#include <sstream>
#include <string>

namespace paged {

/// "sequence 1, head 2"
inline std::string place(int seq, int head) {
  return "sequence " + std::to_string(seq) + ", head " + std::to_string(head);
}

/// Nine significant digits, which tell every f32 from its neighbours.
inline std::string number(double value) {
  if (std::isnan(value)) return "nan";  // a stream may show a sign
  std::ostringstream stream;
  stream.precision(9);
  stream << value;
  return stream.str();
}

}  // namespace paged
