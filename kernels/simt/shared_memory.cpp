#include "kernels/simt/shared_memory.h"

thread_local unsigned char dynamic_shared[paged::simt::kMaxSharedBytes]
    __attribute__((aligned(1024)));
