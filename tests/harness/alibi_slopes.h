// The slopes that models with ALiBi have.
#pragma once
#include <vector>

namespace paged {

/// One slope a head as in O. Press, N. Smith, M. Lewis, "Train Short, Test Long: Attention with
/// Linear Biases Enables Input Length Extrapolation" (ICLR 2022), section 3: for n heads, a power
/// of two, 2^(-8/n), 2^(-16/n), ... For other counts, as the authors' code has it: those of the
/// next lower power of two, then every second one of twice as many heads. num_heads >= 1.
std::vector<double> alibi_slopes(int num_heads);

}  // namespace paged
