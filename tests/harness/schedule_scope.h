// A schedule of the CPU machine for as long as something needs it.
#pragma once
#include "kernels/simt/schedule.h"

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

}  // namespace paged
