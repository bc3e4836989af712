// Schedules of the CPU machine that tests go through.
#pragma once
#include "tests/harness/schedule_scope.h"

#include <vector>

namespace paged {

/// The default, and each other kind with `seeds` seeds.
inline std::vector<simt::Schedule> every_schedule(int seeds) {
  using simt::ScheduleKind;
  std::vector<simt::Schedule> all = {{}};
  for (const ScheduleKind kind :
       {ScheduleKind::random, ScheduleKind::warp_first, ScheduleKind::preemptive})
    for (int seed = 1; seed <= seeds; ++seed)
      all.push_back({kind, static_cast<std::uint64_t>(seed)});
  return all;
}

}  // namespace paged
