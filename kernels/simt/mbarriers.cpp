#include "kernels/simt/mbarriers.h"

#include "kernels/simt/bulk_copy.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>

namespace paged::simt {

namespace {

constexpr unsigned kMostArrivals = (1U << 20) - 1;  // PTX ISA, "Contents of the mbarrier object"
constexpr unsigned kMostBytes = (1U << 20) - 1;
constexpr unsigned kBulkAlignment = 16;
constexpr int kMostRefusals = 64;

std::string place_of(std::uintptr_t address) {
  return is_shared_memory(address) ? place_in_shared_memory(address)
                                   : "an address that is no shared memory";
}

[[noreturn]] void refuse(Worker& worker, FindingKind kind, std::uintptr_t pc,
                         const std::string& what) {
  {
    const UncheckedScope unchecked;
    report(worker, kind, CodePlace{pc, ""}, *worker.current, what);
  }
  stop_block(worker);
}

bool is_over(const MbarrierState& barrier, unsigned parity) {
  return (barrier.phase & 1U) != parity;
}

}  // namespace

void Mbarriers::make(Worker& worker, std::uintptr_t address, unsigned arrivals, std::uintptr_t pc) {
  if (!is_shared_memory(address))
    refuse(worker, FindingKind::mbarrier_misuse, pc, "makes an mbarrier at " + place_of(address));
  if (arrivals == 0 || arrivals > kMostArrivals)
    refuse(worker, FindingKind::mbarrier_misuse, pc,
           "makes an mbarrier for " + std::to_string(arrivals) + " arrivals a phase, not 1 to " +
               std::to_string(kMostArrivals));
  if (worker.launch->checked)
    worker.checker.check_thoroughly(worker, {address, sizeof(MbarrierWord), AccessKind::write, pc},
                                    sizeof(MbarrierWord));

  const UncheckedScope unchecked;
  num_refusals_ = 0;
  int index = 0;
  while (index < num_used_ && all_[index]->address != address) ++index;
  if (index == num_used_) ++num_used_;
  if (index == static_cast<int>(all_.size())) all_.push_back(std::make_unique<MbarrierState>());
  *all_[index] = {};
  all_[index]->address = address;
  all_[index]->index = index;
  all_[index]->arrivals = all_[index]->num_lacking = arrivals;
  *reinterpret_cast<MbarrierWord*>(address) = arrivals;
}

MbarrierState& Mbarriers::use(Worker& worker, std::uintptr_t address, std::uintptr_t pc) {
  int index = 0;
  while (index < num_used_ && all_[index]->address != address) ++index;
  if (index == num_used_)
    refuse(worker, FindingKind::mbarrier_misuse, pc,
           "uses an mbarrier at " + place_of(address) + ", which no mbarrier_init() has made");
  // A read, so that it races with the initialisation and with whatever else writes there, but not
  // with other uses.
  if (worker.launch->checked)
    worker.checker.check_thoroughly(worker, {address, sizeof(MbarrierWord), AccessKind::read, pc},
                                    sizeof(MbarrierWord));
  return *all_[index];
}

void Mbarriers::arrive(Worker& worker, std::uintptr_t address, unsigned bytes, std::uintptr_t pc) {
  MbarrierState& barrier = use(worker, address, pc);
  if (bytes > kMostBytes)
    refuse(
        worker, FindingKind::mbarrier_misuse, pc,
        "announces " + std::to_string(bytes) + " bytes, more than " + std::to_string(kMostBytes));
  if (barrier.num_lacking == 0)
    refuse(worker, FindingKind::mbarrier_misuse, pc,
           "arrives at the mbarrier at " + place_of(address) + " once more than the " +
               std::to_string(barrier.arrivals) + " times of its phase " +
               std::to_string(barrier.phase) + ", which is not over");
  const UncheckedScope unchecked;
  num_refusals_ = 0;
  barrier.announced += bytes;
  if (worker.launch->checked) worker.checker.release(worker.current->id, barrier.gathering);
  --barrier.num_lacking;
  settle(worker, barrier);
}

bool Mbarriers::wait(Worker& worker, std::uintptr_t address, unsigned parity, bool may_give_up,
                     std::uintptr_t pc) {
  MbarrierState& barrier = use(worker, address, pc);
  if (parity > 1)
    refuse(worker, FindingKind::mbarrier_misuse, pc,
           "waits for a phase of parity " + std::to_string(parity) + ", not 0 or 1");
  const UncheckedScope unchecked;
  Fiber& self = *worker.current;
  if (is_over(barrier, parity)) {
    if (worker.launch->checked) worker.checker.acquire(self.id, barrier.over);
    return true;
  }
  self.state = FiberState::at_mbarrier;
  barrier.waiters.push_back({self.id, parity, may_give_up});
  settle(worker, barrier);
  return false;
}

void Mbarriers::start_copy(Worker& worker, std::uintptr_t destination, std::uintptr_t source,
                           unsigned bytes, std::uintptr_t address, std::uintptr_t pc) {
  MbarrierState& barrier = use(worker, address, pc);
  if (bytes % kBulkAlignment != 0)
    refuse(worker, FindingKind::misaligned_access, pc,
           "bulk copy of " + std::to_string(bytes) + " bytes, which is no multiple of 16");
  if (bytes == 0) return;
  AsyncCopy copy;
  copy.destination = destination;
  copy.source = source;
  copy.bytes = copy.source_bytes = bytes;
  copy.pc = pc;
  copy.thread = static_cast<std::uint16_t>(worker.current->id);
  const int number = worker.async_copies.start(worker, copy, kBulkAlignment);
  worker.counter.see_bulk_copy(*worker.current, copy);
  const UncheckedScope unchecked;
  num_refusals_ = 0;
  barrier.copies.push_back(number);
  settle(worker, barrier);
}

void Mbarriers::settle(Worker& worker, MbarrierState& barrier) {
  if (barrier.num_lacking != 0) return;
  if (!barrier.waiters.empty()) move_bytes(worker, barrier);
  if (barrier.copies.empty() && barrier.announced == barrier.arrived) end_phase(worker, barrier);
}

void Mbarriers::move_bytes(Worker& worker, MbarrierState& barrier) {
  while (!barrier.copies.empty()) {
    const int number = barrier.copies.back();
    barrier.copies.pop_back();
    const AsyncCopy copy = worker.async_copies.arrive(worker, number);
    barrier.arrived += copy.bytes;
    if (worker.launch->checked)
      worker.checker.at_bulk_arrival({copy.destination, copy.bytes, AccessKind::write, copy.pc},
                                     actor_of_mbarrier(barrier.index), barrier.gathering);
  }
}

void Mbarriers::end_phase(Worker& worker, MbarrierState& barrier) {
  ++barrier.phase;
  barrier.num_lacking = barrier.arrivals;
  barrier.announced = barrier.arrived = 0;
  barrier.over.enter(barrier.gathering.epoch);
  barrier.over.join(barrier.gathering);
  barrier.gathering = {};
  const auto goes_on = [&](const MbarrierState::Waiter& waiter) {
    if (!is_over(barrier, waiter.parity)) return false;
    if (worker.launch->checked) worker.checker.acquire(waiter.thread, barrier.over);
    worker.fibers[waiter.thread].result = 1;
    resume_later(worker, worker.fibers[waiter.thread]);
    return true;
  };
  barrier.waiters.erase(std::remove_if(barrier.waiters.begin(), barrier.waiters.end(), goes_on),
                        barrier.waiters.end());
}

bool Mbarriers::refuse_try_waits(Worker& worker) {
  if (num_refusals_ >= kMostRefusals) return false;
  const UncheckedScope unchecked;
  bool refused = false;
  for (int index = 0; index < num_used_; ++index) {
    auto& waiters = all_[index]->waiters;
    const auto gives_up = [&](const MbarrierState::Waiter& waiter) {
      if (!waiter.may_give_up) return false;
      worker.fibers[waiter.thread].result = 0;
      resume_later(worker, worker.fibers[waiter.thread]);
      return true;
    };
    const auto end = std::remove_if(waiters.begin(), waiters.end(), gives_up);
    refused |= end != waiters.end();
    waiters.erase(end, waiters.end());
  }
  if (refused) ++num_refusals_;
  return refused;
}

std::string Mbarriers::describe_waits() const {
  std::string text;
  for (int index = 0; index < num_used_; ++index) {
    const MbarrierState& barrier = *all_[index];
    if (barrier.waiters.empty()) continue;
    text += "; the mbarrier at " + place_of(barrier.address) + " in its phase " +
            std::to_string(barrier.phase);
    if (barrier.num_lacking != 0)
      text += " lacks " + std::to_string(barrier.num_lacking) + " of " +
              std::to_string(barrier.arrivals) + " arrivals";
    else
      text += " has all arrivals, and " + std::to_string(barrier.arrived) + " bytes where " +
              std::to_string(barrier.announced) + " were announced";
  }
  return text;
}

namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Waits on the running fiber; returns whether the phase is over.
bool wait_on(MbarrierWord* barrier, unsigned parity, bool may_give_up, std::source_location where,
             std::uintptr_t pc) {
  Worker& worker = *current_worker;
  Fiber& self = *worker.current;
  self.where = where;
  self.pc = pc;
  if (worker.mbarriers.wait(worker, address_of(barrier), parity, may_give_up, pc)) return true;
  suspend(worker);
  return self.result != 0;
}

}  // namespace

void make_mbarrier(MbarrierWord* barrier, unsigned arrivals) noexcept {
  current_worker->mbarriers.make(*current_worker, address_of(barrier), arrivals,
                                 address_of(__builtin_return_address(0)));
}

void arrive_at_mbarrier(MbarrierWord* barrier, unsigned expect_bytes) noexcept {
  current_worker->mbarriers.arrive(*current_worker, address_of(barrier), expect_bytes,
                                   address_of(__builtin_return_address(0)));
}

bool try_wait_for_mbarrier(MbarrierWord* barrier, unsigned parity,
                           std::source_location where) noexcept {
  return wait_on(barrier, parity, true, where, address_of(__builtin_return_address(0)));
}

void wait_for_mbarrier(MbarrierWord* barrier, unsigned parity,
                       std::source_location where) noexcept {
  wait_on(barrier, parity, false, where, address_of(__builtin_return_address(0)));
}

void start_bulk_copy(void* destination, const void* source, unsigned bytes,
                     MbarrierWord* barrier) noexcept {
  current_worker->mbarriers.start_copy(*current_worker, address_of(destination), address_of(source),
                                       bytes, address_of(barrier),
                                       address_of(__builtin_return_address(0)));
}

}  // namespace paged::simt
