// Lets a constexpr function of the reference be called from device code as well.
#pragma once

#if defined(__CUDACC__)
#  define PAGED_HOST_DEVICE __host__ __device__
#else
#  define PAGED_HOST_DEVICE
#endif
