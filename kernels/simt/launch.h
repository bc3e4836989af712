// Launching a kernel on the CPU machine.
#pragma once
#include "kernels/paged_decode.h"
#include "kernels/phase.h"
#include "kernels/simt/keywords.h"
#include "kernels/simt/thread_coordinates.h"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace paged::simt {

/// One launch, without its types.
struct LaunchRequest {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;  ///< dynamic shared memory per block
  bool checked;              ///< accesses are instrumented
  const void* kernel;        ///< its address, for its name
  void (*run_thread)(const void* arguments);
  const void* arguments;
  std::size_t argument_bytes;
};

/// Runs all blocks and returns when they are done. Throws DeviceError, with nothing run, for a
/// launch beyond the limits of an H200. What README.md's "What it cannot see" names is not counted.
void run_launch(const LaunchRequest& request);

/// Names the step of the algorithm that the calling thread is at from here on.
void set_phase(Phase phase) noexcept;

}  // namespace paged::simt

namespace paged::PAGED_BACKEND {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif

/// Launches are synchronous here: all streams are one.
struct Stream {};

/// The stream of a call's arguments.
inline Stream stream_of(const paged_decode_args&) { return {}; }

template <typename... Parameters>
struct BoundKernel {
  void (*kernel)(Parameters...);
  std::tuple<std::decay_t<Parameters>...> arguments;

  __attribute__((no_sanitize("thread"), noinline)) static void run_thread(const void* bound) {
    const auto* self = static_cast<const BoundKernel*>(bound);
    std::apply(self->kernel, self->arguments);
  }
};

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...).
/// Throws DeviceError for a launch that the device refuses, with nothing run.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            Stream /*stream*/, Arguments&&... arguments) {
  const BoundKernel<Parameters...> bound{
      kernel, {static_cast<std::decay_t<Parameters>>(std::forward<Arguments>(arguments))...}};
  simt::run_launch({grid, block, shared_bytes, kChecked, reinterpret_cast<const void*>(kernel),
                    &BoundKernel<Parameters...>::run_thread, &bound, sizeof(bound)});
}

/// The calling thread is at this step of the algorithm from here on.
__forceinline__ void enter_phase(Phase phase) { simt::set_phase(phase); }

}  // namespace paged::PAGED_BACKEND
