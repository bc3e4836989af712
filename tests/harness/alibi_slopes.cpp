#include "tests/harness/alibi_slopes.h"

#include <bit>
#include <cmath>

namespace paged {
namespace {

double slope(int i, int heads) { return std::exp2(-8.0 * (i + 1) / heads); }

}  // namespace

std::vector<double> alibi_slopes(int num_heads) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(num_heads)));
  std::vector<double> slopes;
  for (int head = 0; head < power; ++head) slopes.push_back(slope(head, power));
  for (int i = 0; power + i < num_heads; ++i) slopes.push_back(slope(2 * i, 2 * power));
  return slopes;
}

}  // namespace paged
