// The pictures of the pages, drawn from runs.
#pragma once
#include "kernels/device.h"
#include "walkthroughs/pictures/svg.h"

#include <string>
#include <vector>

namespace paged {

/// A file of docs/figures.
struct Picture {
  std::string file;
  std::string svg;
};

/// Sequence, block table, cache and warps: the picture of the project, light and dark.
std::vector<Picture> front_pictures(Device& device);
/// Which lane reads which bytes of a page in which step, keys and values.
std::vector<Picture> lane_pictures(Device& device);
/// Sectors of a request, by stage and type.
std::vector<Picture> sector_pictures(Device& device);
/// Slots past a sequence's end: loaded, masked, without weight.
std::vector<Picture> tail_pictures(Device& device);
/// 1100 tokens in partitions of 512, and their merge.
std::vector<Picture> partition_pictures(Device& device);
/// Which banks of shared memory the lanes of a request meet in.
std::vector<Picture> bank_pictures(Device& device);
/// Block tables that share blocks, and copy-on-write.
std::vector<Picture> table_pictures();

}  // namespace paged
