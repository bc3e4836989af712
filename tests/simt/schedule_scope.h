// A schedule of the CPU machine for as long as a test needs it.
#pragma once
#include "kernels/simt/schedule.h"

#include <vector>

namespace paged {

class ScheduleScope {
 public:
  explicit ScheduleScope(const simt::Schedule& schedule) : before_(simt::current_schedule()) {
    simt::set_schedule(schedule);
  }
  ~ScheduleScope() { simt::set_schedule(before_); }
  ScheduleScope(const ScheduleScope&) = delete;
  ScheduleScope& operator=(const ScheduleScope&) = delete;

 private:
  simt::Schedule before_;
};

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
