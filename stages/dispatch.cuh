// From types and sizes of a call, known at run time, to template arguments, and to a launch.
#pragma once
#include "kernels/cuda.h"
#include "kernels/decode_tensors.cuh"
#include "kernels/paged_decode.h"
#include "stages/instance_lists.h"
#include "stages/stage.h"

#include <iterator>
#include <type_traits>
#include <utility>

#ifndef PAGED_INSTANCES
#  error "PAGED_INSTANCES is not set: small, pairwise or all (stages/CMakeLists.txt)"
#endif

namespace paged::PAGED_BACKEND {

/// The list that this compilation of the stages was asked for.
inline constexpr InstanceList kInstances = InstanceList::PAGED_INSTANCES;

/// Names a type to a generic lambda.
template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<scalar_t>) with the query's element type.
template <typename F>
void with_scalar_type(const paged_decode_args& args, F f) {
  if constexpr (is_for_mutants(kInstances)) {
    f(TypeTag<__half>{});
  } else {
    switch (args.scalar) {
      case PAGED_F32:
        return f(TypeTag<float>{});
      case PAGED_F16:
        return f(TypeTag<__half>{});
      default:
        return f(TypeTag<__nv_bfloat16>{});
    }
  }
}

/// Calls f(TypeTag<cache_t>): fp8, or the scalar's own type.
template <typename scalar_t, typename F>
void with_cache_type(const paged_decode_args& args, F f) {
  if constexpr (kInstances == InstanceList::lab) {
    if (args.cache == PAGED_E4M3) return f(TypeTag<__nv_fp8_e4m3>{});
    f(TypeTag<scalar_t>{});
  } else if constexpr (is_for_mutants(kInstances) && kInstances != InstanceList::mutant_fp8) {
    f(TypeTag<scalar_t>{});
  } else {
    switch (args.cache) {
      case PAGED_E4M3:
        return f(TypeTag<__nv_fp8_e4m3>{});
      case PAGED_E5M2:
        return f(TypeTag<__nv_fp8_e5m2>{});
      default:
        return f(TypeTag<scalar_t>{});
    }
  }
}

/// Returns f(TypeTag<probability_t>{}): float, or __half where the call asks for it. Only kernels
/// of an f16 cache come in both versions; check_arguments() has refused others before. Mutants have
/// the first alone.
template <typename cache_t, typename F>
auto with_probability_type(const paged_decode_args& args, F f) {
  if constexpr (std::is_same_v<cache_t, __half> && !is_for_mutants(kInstances))
    if (args.probabilities == PAGED_F16) return f(TypeTag<__half>{});
  return f(TypeTag<float>{});
}

/// The enumerators that stand for device types, at compile time.
template <typename T>
inline constexpr CacheType kTypeOf = CacheType::f32;
template <>
inline constexpr CacheType kTypeOf<__half> = CacheType::f16;
template <>
inline constexpr CacheType kTypeOf<__nv_bfloat16> = CacheType::bf16;
template <>
inline constexpr CacheType kTypeOf<__nv_fp8_e4m3> = CacheType::e4m3;
template <>
inline constexpr CacheType kTypeOf<__nv_fp8_e5m2> = CacheType::e5m2;

/// The types and sizes of one kernel.
template <typename Scalar, typename Cache, int kHead, int kBlock>
struct Instance {
  using scalar_t = Scalar;
  using cache_t = Cache;
  static constexpr int kHeadSize = kHead;
  static constexpr int kBlockSize = kBlock;
};

/// Calls f(Instance) if the list kInstances has these types and sizes.
template <typename scalar_t, typename cache_t, int kHead, int kBlock, typename F>
void with_built(F f) {
  constexpr auto kScalar = static_cast<ScalarType>(kTypeOf<scalar_t>);
  if constexpr (is_in(kInstances, kScalar, kTypeOf<cache_t>, kHead, kBlock))
    f(Instance<scalar_t, cache_t, kHead, kBlock>{});
}

template <typename scalar_t, typename cache_t, int kHead, typename F, int... kIndices>
void with_block_size(int block_size, F f, std::integer_sequence<int, kIndices...>) {
  ((block_size == kBlockSizes[kIndices]
        ? with_built<scalar_t, cache_t, kHead, kBlockSizes[kIndices]>(f)
        : void()),
   ...);
}

template <typename scalar_t, typename cache_t, typename F, int... kIndices>
void with_head_size(int head_size, int block_size, F f, std::integer_sequence<int, kIndices...>) {
  ((head_size == kHeadSizes[kIndices]
        ? with_block_size<scalar_t, cache_t, kHeadSizes[kIndices]>(
              block_size, f, std::make_integer_sequence<int, std::size(kBlockSizes)>{})
        : void()),
   ...);
}

/// Calls f(Instance<...>) with the types and sizes of the call, if the list kInstances has them;
/// check_supported() has refused others before.
template <typename F>
void with_instance(const paged_decode_args& args, F f) {
  with_scalar_type(args, [&](auto scalar) {
    using scalar_t = typename decltype(scalar)::type;
    with_cache_type<scalar_t>(args, [&](auto cache) {
      using cache_t = typename decltype(cache)::type;
      with_head_size<scalar_t, cache_t>(args.head_size, args.block_size, f,
                                        std::make_integer_sequence<int, std::size(kHeadSizes)>{});
    });
  });
}

/// Launches one block a (head, sequence), as planned, of the kernel that kernel_of(Instance<...>)
/// returns for the types and sizes of the call.
template <typename F>
void launch_per_head(const paged_decode_args& args, const LaunchPlan& plan, F kernel_of) {
  with_instance(args, [&](auto instance) {
    using I = decltype(instance);
    launch(kernel_of(instance), dim3(args.num_heads, args.num_seqs), dim3(plan.threads),
           plan.shared_bytes, stream_of(args),
           DecodeTensors<typename I::scalar_t, typename I::cache_t>(args));
  });
}

}  // namespace paged::PAGED_BACKEND
