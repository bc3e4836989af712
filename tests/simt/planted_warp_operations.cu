// Wrong and right uses of shuffles, votes and __syncwarp.
#include "kernels/reduction.cuh"
#include "tests/simt/device_array.h"
#include "tests/simt/planted_kernels.h"

namespace paged::PAGED_BACKEND {
namespace {

// ---- different operations -----------------------------------------------------------------------

__global__ void two_operations(int* values) {
  const int lane = threadIdx.x;
  int value = lane;
  if (lane < 16)
    value = __shfl_xor_sync(kAllLanes, value, 1);
  else
    value = __shfl_down_sync(kAllLanes, value, 1);  // mistake: two kinds of shuffle
  values[lane] = value;
}

__global__ void two_masks(int* values) {
  const int lane = threadIdx.x;
  const unsigned mask = lane < 16 ? kAllLanes : 0x7FFFFFFFU | 1U << lane;
  values[lane] = __ballot_sync(mask, 1) != 0;  // mistake: two masks
}

__global__ void sync_and_vote(int* values) {
  const int lane = threadIdx.x;
  values[lane] = 1;
  if (lane % 2 == 0)
    __syncwarp();
  else
    values[lane] = __any_sync(kAllLanes, 1);  // mistake: warp barrier and vote
}

__global__ void one_vote_from_two_lines(int* values) {
  const int lane = threadIdx.x;
  if (lane % 2 == 0)
    values[lane] = __any_sync(kAllLanes, 1);
  else
    values[lane] = __any_sync(kAllLanes, 0);
}

__global__ void one_operation_from_two_lines(int* values) {
  const int lane = threadIdx.x;
  int value = lane;
  if (lane < 16)
    value = __shfl_xor_sync(kAllLanes, value, 1);
  else
    value = __shfl_xor_sync(kAllLanes, value, 1);
  values[lane] = value;
}

__global__ void halves_then_whole(int* values) {
  const int lane = threadIdx.x;
  int value = lane;
  if (lane < 16) {
    for (int i = 0; i < 3; ++i) value += __shfl_xor_sync(0x0000FFFFU, value, 1);
  } else {
    __syncwarp(0xFFFF0000U);
  }
  values[lane] = __shfl_sync(kAllLanes, value, 0);
}

// ---- lanes that are not there -------------------------------------------------------------------

__global__ void shuffle_from_exited(int* values) {
  const int lane = threadIdx.x;
  if (lane == 31) return;
  values[lane] = __shfl_down_sync(kAllLanes, lane, 1);  // mistake: shuffle from an exited lane
}

__global__ void sync_with_exited(int* values) {
  const int lane = threadIdx.x;
  values[lane] = 1;
  if (lane == 0) {
    values[32] = __shfl_sync(1U, lane, 0);
    return;
  }
  __syncwarp();  // mistake: warp barrier with an exited lane
}

__global__ void not_in_its_mask(int* values) {
  const int lane = threadIdx.x;
  values[lane] = __shfl_sync(0x0000FFFFU, lane, 0);  // mistake: shuffle by a lane outside the mask
}

__global__ void sync_not_in_its_mask(int* values) {
  values[threadIdx.x] = 1;
  __syncwarp(~(1U << 7));  // mistake: warp barrier by a lane outside the mask
}

__global__ void source_outside_mask(int* values) {
  const int lane = threadIdx.x;
  if (lane < 16)
    values[lane] = __shfl_sync(0x0000FFFFU, lane, 20);  // mistake: shuffle from outside the mask
}

__global__ void sum_of_warp(int* values) {
  int value = 1;
  for (int distance = 16; distance >= 1; distance /= 2)
    value += __shfl_xor_sync(kAllLanes, value, distance);  // mistake: sum over a partial warp
  values[threadIdx.x] = value;
}

__global__ void sum_of_twelve(int* values) {
  const int lane = threadIdx.x;
  values[lane] = __shfl_down_sync(kAllLanes, lane, 1, 12);  // mistake: width 12
}

__global__ void sum_of_many(int width, int* values) {
  const int lane = threadIdx.x;
  values[lane] = __shfl_xor_sync(kAllLanes, lane, 1, width);  // mistake: width 64
}

__global__ void broadcast(int* values) {
  values[threadIdx.x] = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x), 3);
}

__global__ void exit_after_shuffle(int* values) {
  const int lane = threadIdx.x;
  const int value = __shfl_down_sync(kAllLanes, lane, 1);
  if (lane >= 16) return;
  values[lane] = __shfl_xor_sync(0x0000FFFFU, value, 1);
}

template <int kWidth>
void run_width(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>(32), "values");
  launch(sum_of_many, dim3(1), dim3(32), 0, Stream{}, kWidth, values.data());
}

template <void (*kKernel)(int*), int kThreads>
void run(Device& device) {
  const DeviceArray<int> values(device, std::vector<int>(128), "values");
  launch(kKernel, dim3(1), dim3(kThreads), 0, Stream{}, values.data());
}

}  // namespace

void add_planted_warp_operations(std::vector<PlantedKernel>& kernels) {
  const auto mismatch = FindingKind::warp_operation_mismatch;
  const auto missing = FindingKind::warp_lane_missing;
  const std::string file = "planted_warp_operations.cu";
  kernels.insert(
      kernels.end(),
      {{"two kinds of shuffle",
        file,
        run<two_operations, 32>,
        {{mismatch, "two_operations",
          "while lane 0 of the same warp, which it names, is at "
          "__shfl_xor_sync at planted_warp_operations.cu:"}}},
       {"two masks", file, run<two_masks, 32>, {{mismatch, "two_masks", "__ballot_sync"}}},
       {"warp barrier and vote",
        file,
        run<sync_and_vote, 32>,
        {{mismatch, "sync_and_vote", "__any_sync"}}},
       {"one vote from two lines",
        file,
        run<one_vote_from_two_lines, 32>,
        {},
        false,
        FindingKind::warp_operation_mismatch},
       {"one operation from two lines",
        file,
        run<one_operation_from_two_lines, 32>,
        {},
        false,
        FindingKind::warp_operation_mismatch},
       {"halves, then the whole warp",
        file,
        run<halves_then_whole, 32>,
        {},
        false,
        FindingKind::warp_operation_mismatch},

       {"shuffle from an exited lane",
        file,
        run<shuffle_from_exited, 32>,
        {{missing, "shuffle_from_exited",
          "calls __shfl_down_sync with mask 0xffffffff, which names 1 lanes that have exited, "
          "lane 31 the first"}}},
       {"warp barrier with an exited lane",
        file,
        run<sync_with_exited, 32>,
        {{missing, "sync_with_exited", "lane 0 the first"}}},
       {"shuffle by a lane outside the mask",
        file,
        run<not_in_its_mask, 32>,
        {{missing, "not_in_its_mask",
          "lane 16): calls __shfl_sync with mask 0x0000ffff, which does not name the calling "
          "lane"}}},
       {"warp barrier by a lane outside the mask",
        file,
        run<sync_not_in_its_mask, 32>,
        {{missing, "sync_not_in_its_mask", "does not name the calling lane"}}},
       {"shuffle from outside the mask",
        file,
        run<source_outside_mask, 32>,
        {{missing, "source_outside_mask",
          "__shfl_sync reads lane 20, which mask 0x0000ffff does not name"}}},
       {"sum over a partial warp",
        file,
        run<sum_of_warp, 40>,
        {{missing, "sum_of_warp", "reads lane 16, which this warp of 8 threads does not have"}}},
       {"width 12",
        file,
        run<sum_of_twelve, 32>,
        {{missing, "sum_of_twelve",
          "calls __shfl_down_sync with width 12, which is no power of two from 1 to 32"}}},
       {"width 64",
        file,
        run_width<64>,
        {{missing, "sum_of_many", "calls __shfl_xor_sync with width 64"}}},
       {"width 16", file, run_width<16>, {}, false, FindingKind::warp_lane_missing},
       {"sum over whole warps",
        file,
        run<sum_of_warp, 64>,
        {},
        false,
        FindingKind::warp_lane_missing},
       {"broadcast in a partial warp",
        file,
        run<broadcast, 40>,
        {},
        false,
        FindingKind::warp_lane_missing},
       {"exits after a shuffle",
        file,
        run<exit_after_shuffle, 32>,
        {},
        false,
        FindingKind::warp_lane_missing}});
}

}  // namespace paged::PAGED_BACKEND
