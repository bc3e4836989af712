// From the element types of a call, known at run time, to a kernel template's types.
#pragma once
#include "kernels/cuda.h"
#include "kernels/paged_decode.h"

namespace paged::PAGED_BACKEND {

/// Names a type to a generic lambda.
template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<scalar_t>) with the query's element type.
template <typename F>
void with_scalar_type(const paged_decode_args& args, F f) {
  switch (args.scalar) {
    case PAGED_F32:
      return f(TypeTag<float>{});
    case PAGED_F16:
      return f(TypeTag<__half>{});
    default:
      return f(TypeTag<__nv_bfloat16>{});
  }
}

/// Calls f(TypeTag<cache_t>): fp8, or the scalar's own type.
template <typename scalar_t, typename F>
void with_cache_type(const paged_decode_args& args, F f) {
  switch (args.cache) {
    case PAGED_E4M3:
      return f(TypeTag<__nv_fp8_e4m3>{});
    case PAGED_E5M2:
      return f(TypeTag<__nv_fp8_e5m2>{});
    default:
      return f(TypeTag<scalar_t>{});
  }
}

}  // namespace paged::PAGED_BACKEND
