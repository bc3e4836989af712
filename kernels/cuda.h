// CUDA for two compilers. nvcc sees CUDA; g++ sees the same vocabulary, made by the CPU machine.
//
// This is the only file that asks which compiler it is. Kernels include it (or a header that does)
// and are written in plain CUDA C++. Device code lives in namespace paged::PAGED_BACKEND; the build
// sets the macro to cuda, cpu_checked or cpu_unchecked, so that one program can hold the same
// kernel compiled three ways.
#pragma once

#if defined(__CUDACC__)
#  include "kernels/cuda/async_copy.h"
#  include "kernels/cuda/bulk_copy.h"
#  include "kernels/cuda/matrix_operations.h"
#  include "kernels/cuda_launch.h"

#  include <cuda_bf16.h>
#  include <cuda_fp16.h>
#  include <cuda_fp8.h>
#  include <cuda_runtime.h>
#else
#  include "kernels/simt/vocabulary.h"
#endif

#ifndef PAGED_BACKEND
#  error "PAGED_BACKEND is not set: compile kernel files through paged_add_kernels"
#endif
