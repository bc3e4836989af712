// The steps of decode attention, named in the source so that counts and findings can name them.
#pragma once

namespace paged {

enum class Phase { gather, qk, softmax, pv, reduce };

constexpr const char* name_of(Phase phase) {
  constexpr const char* names[] = {"gather", "QK", "softmax", "PV", "reduce"};
  return names[static_cast<int>(phase)];
}

}  // namespace paged
