// Read-modify-write operations on global and shared memory.
#pragma once
#include "kernels/simt/keywords.h"

namespace paged::simt {

// Defined in the machine, which is not instrumented: each is one access for the checker.
// T: int, unsigned, unsigned long long; add also float and double; min and max only 32 bits.
template <typename T>
T atomic_add(T* address, T value) noexcept;
template <typename T>
T atomic_max(T* address, T value) noexcept;
template <typename T>
T atomic_min(T* address, T value) noexcept;
template <typename T>
T atomic_exchange(T* address, T value) noexcept;
template <typename T>
T atomic_compare_and_swap(T* address, T expected, T desired) noexcept;

}  // namespace paged::simt

// All return the value from before.
__forceinline__ int atomicAdd(int* address, int value) {
  return paged::simt::atomic_add(address, value);
}
__forceinline__ unsigned atomicAdd(unsigned* address, unsigned value) {
  return paged::simt::atomic_add(address, value);
}
__forceinline__ unsigned long long atomicAdd(unsigned long long* address,
                                             unsigned long long value) {
  return paged::simt::atomic_add(address, value);
}
__forceinline__ float atomicAdd(float* address, float value) {
  return paged::simt::atomic_add(address, value);
}
__forceinline__ double atomicAdd(double* address, double value) {
  return paged::simt::atomic_add(address, value);
}

__forceinline__ int atomicMax(int* address, int value) {
  return paged::simt::atomic_max(address, value);
}
__forceinline__ unsigned atomicMax(unsigned* address, unsigned value) {
  return paged::simt::atomic_max(address, value);
}
__forceinline__ int atomicMin(int* address, int value) {
  return paged::simt::atomic_min(address, value);
}
__forceinline__ unsigned atomicMin(unsigned* address, unsigned value) {
  return paged::simt::atomic_min(address, value);
}

__forceinline__ int atomicExch(int* address, int value) {
  return paged::simt::atomic_exchange(address, value);
}
__forceinline__ unsigned atomicExch(unsigned* address, unsigned value) {
  return paged::simt::atomic_exchange(address, value);
}
__forceinline__ unsigned long long atomicExch(unsigned long long* address,
                                              unsigned long long value) {
  return paged::simt::atomic_exchange(address, value);
}
__forceinline__ float atomicExch(float* address, float value) {
  return paged::simt::atomic_exchange(address, value);
}

__forceinline__ int atomicCAS(int* address, int expected, int desired) {
  return paged::simt::atomic_compare_and_swap(address, expected, desired);
}
__forceinline__ unsigned atomicCAS(unsigned* address, unsigned expected, unsigned desired) {
  return paged::simt::atomic_compare_and_swap(address, expected, desired);
}
__forceinline__ unsigned long long atomicCAS(unsigned long long* address,
                                             unsigned long long expected,
                                             unsigned long long desired) {
  return paged::simt::atomic_compare_and_swap(address, expected, desired);
}
