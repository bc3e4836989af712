// Several elements in one load or store.
#pragma once
#include "kernels/cuda.h"

#include <cstring>

namespace paged::PAGED_BACKEND {

/// The type whose copy is one access of kBytes.
template <int kBytes>
struct MemoryWord;
template <>
struct MemoryWord<1> {
  using type = unsigned char;
};
template <>
struct MemoryWord<2> {
  using type = unsigned short;
};
template <>
struct MemoryWord<4> {
  using type = unsigned;
};
template <>
struct MemoryWord<8> {
  using type = uint2;
};
template <>
struct MemoryWord<16> {
  using type = uint4;
};

/// N elements in registers. N * sizeof(T) is 1, 2, 4, 8 or 16 bytes.
template <typename T, int N>
struct alignas(sizeof(T) * N) Vec {
  T elements[N];

  __device__ __forceinline__ T& operator[](int i) { return elements[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return elements[i]; }
};

/// Loads N elements as ONE access. address: a multiple of N * sizeof(T) bytes.
template <int N, typename T>
__device__ __forceinline__ Vec<T, N> load_vec(const T* address) {
  using Word = typename MemoryWord<N * sizeof(T)>::type;
  const Word word = *reinterpret_cast<const Word*>(address);
  Vec<T, N> vec;
  memcpy(static_cast<void*>(&vec), &word, sizeof(vec));
  return vec;
}

/// Stores N elements as ONE access. address: a multiple of N * sizeof(T) bytes.
template <typename T, int N>
__device__ __forceinline__ void store_vec(T* address, const Vec<T, N>& vec) {
  using Word = typename MemoryWord<N * sizeof(T)>::type;
  Word word;
  memcpy(static_cast<void*>(&word), &vec, sizeof(vec));
  *reinterpret_cast<Word*>(address) = word;
}

}  // namespace paged::PAGED_BACKEND
