// CUDA's short vectors. Copies of them are one access of 8 or 16 bytes, as on a GPU.
#pragma once
#include "kernels/simt/keywords.h"

namespace paged::simt {

// Copying goes through `whole`: g++ would copy members one by one, and a checker would see two or
// four loads where a GPU has one.
template <typename T>
struct alignas(2 * sizeof(T)) Vector2 {
  typedef T Whole __attribute__((vector_size(2 * sizeof(T))));
  union {
    __extension__ struct { T x, y; };
    Whole whole;
  };
  Vector2() = default;
  __forceinline__ Vector2(T x_, T y_) : whole{x_, y_} {}
  __forceinline__ Vector2(const Vector2& other) : whole(other.whole) {}
  __forceinline__ Vector2& operator=(const Vector2& other) {
    whole = other.whole;
    return *this;
  }
};

template <typename T>
struct alignas(4 * sizeof(T)) Vector4 {
  typedef T Whole __attribute__((vector_size(4 * sizeof(T))));
  union {
    __extension__ struct { T x, y, z, w; };
    Whole whole;
  };
  Vector4() = default;
  __forceinline__ Vector4(T x_, T y_, T z_, T w_) : whole{x_, y_, z_, w_} {}
  __forceinline__ Vector4(const Vector4& other) : whole(other.whole) {}
  __forceinline__ Vector4& operator=(const Vector4& other) {
    whole = other.whole;
    return *this;
  }
};

}  // namespace paged::simt

using int2 = paged::simt::Vector2<int>;
using uint2 = paged::simt::Vector2<unsigned>;
using float2 = paged::simt::Vector2<float>;
using int4 = paged::simt::Vector4<int>;
using uint4 = paged::simt::Vector4<unsigned>;
using float4 = paged::simt::Vector4<float>;

__forceinline__ int2 make_int2(int x, int y) { return {x, y}; }
__forceinline__ uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
__forceinline__ float2 make_float2(float x, float y) { return {x, y}; }
__forceinline__ int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
__forceinline__ uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
__forceinline__ float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
