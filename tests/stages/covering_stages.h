// Stages 2 to 5 compiled once more, each for another share of the kernels that cover all pairs.
#pragma once
#include "stages/stage.h"

// See stages/instance_lists.h for shares, CMakeLists.txt here for which stage has which.
namespace paged::covering_stages {
Stage stage_02_thread_group_qk();
Stage stage_03_two_pass_softmax();
Stage stage_04_vectorised_pv();
Stage stage_05_partition_and_reduce();
}  // namespace paged::covering_stages
