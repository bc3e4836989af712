// CUDA's intrinsic functions. The fast ones are the accurate ones here: within their error bounds.
#pragma once
#include "kernels/simt/keywords.h"

#include <features.h>

#include <bit>
#include <cmath>

// The C library declares functions of these names, with other linkage: only a macro can take over.
#define __expf(x) (::expf(x))
#define __logf(x) (::logf(x))
#define __log2f(x) (::log2f(x))
#define __powf(x, y) (::powf(x, y))

__forceinline__ float __fdividef(float dividend, float divisor) { return dividend / divisor; }
#if !__GLIBC_PREREQ(2, 42)  // later ones have it, as C23 asks
__forceinline__ float rsqrtf(float value) { return 1.0F / std::sqrt(value); }
#endif

__forceinline__ int min(int a, int b) { return b < a ? b : a; }
__forceinline__ int max(int a, int b) { return a < b ? b : a; }
__forceinline__ unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
__forceinline__ unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
__forceinline__ long min(long a, long b) { return b < a ? b : a; }
__forceinline__ long max(long a, long b) { return a < b ? b : a; }
__forceinline__ long long min(long long a, long long b) { return b < a ? b : a; }
__forceinline__ long long max(long long a, long long b) { return a < b ? b : a; }
__forceinline__ float min(float a, float b) { return ::fminf(a, b); }
__forceinline__ float max(float a, float b) { return ::fmaxf(a, b); }
__forceinline__ double min(double a, double b) { return ::fmin(a, b); }
__forceinline__ double max(double a, double b) { return ::fmax(a, b); }

__forceinline__ int __popc(unsigned value) { return std::popcount(value); }
__forceinline__ int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
/// Position of the lowest bit set, counted from 1; 0 if there is none.
__forceinline__ int __ffs(int value) { return __builtin_ffs(value); }

__forceinline__ int __float_as_int(float value) { return std::bit_cast<int>(value); }
__forceinline__ unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
__forceinline__ float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
__forceinline__ float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

/// A load through the read-only cache; here a load.
template <typename T>
__forceinline__ T __ldg(const T* address) {
  return *address;
}
