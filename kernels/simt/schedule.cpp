#include "kernels/simt/schedule.h"

#include <mutex>
#include <numeric>

namespace paged::simt {

namespace {

std::mutex schedule_mutex;
Schedule current;

// a * b modulo n, for n < 2^63.
std::uint64_t product_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  std::uint64_t product = 0;
  for (a %= n; b != 0; b >>= 1, a = a * 2 % n)
    if ((b & 1) != 0) product = (product + a) % n;
  return product;
}

}  // namespace

const char* name_of(ScheduleKind kind) {
  constexpr const char* names[] = {"in-order", "random", "warp-first", "preemptive"};
  return names[static_cast<int>(kind)];
}

std::optional<ScheduleKind> schedule_named(const std::string& name) {
  for (const ScheduleKind kind : {ScheduleKind::in_order, ScheduleKind::random,
                                  ScheduleKind::warp_first, ScheduleKind::preemptive})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

std::string describe(const Schedule& schedule) {
  if (schedule.kind == ScheduleKind::in_order) return "";
  return std::string(name_of(schedule.kind)) + ", seed " + std::to_string(schedule.seed);
}

void set_schedule(const Schedule& schedule) {
  const std::lock_guard lock(schedule_mutex);
  current = schedule;
}

Schedule current_schedule() {
  const std::lock_guard lock(schedule_mutex);
  return current;
}

std::uint64_t block_at(const Schedule& schedule, std::uint64_t position, std::uint64_t num_blocks) {
  if (schedule.kind == ScheduleKind::in_order || num_blocks < 2) return position;
  // stride * position + first, with a stride that has no factor in common with the number.
  ScheduleRandom random(schedule.seed);
  const std::uint64_t first = random.bits() % num_blocks;
  std::uint64_t stride = random.bits() % num_blocks;
  while (std::gcd(stride, num_blocks) != 1) stride = (stride + 1) % num_blocks;
  return (product_modulo(stride, position, num_blocks) + first) % num_blocks;
}

ScheduleRandom random_of_block(const Schedule& schedule, std::uint64_t block) {
  return ScheduleRandom(ScheduleRandom(schedule.seed).bits() ^ ScheduleRandom(block).bits());
}

}  // namespace paged::simt
