// The mbarriers of one block.
//
// A phase is over when all its arrivals are in, and as many bytes as they announced. A bulk copy's
// bytes move when nothing else is lacking and somebody waits: no sooner than hardware may be relied
// on. Whoever waits gives way to other threads. What threads did before their arrivals, and what
// the copies wrote, is ordered before what comes after a wait.
#pragma once
#include "kernels/simt/sync_clock.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace paged::simt {

struct Worker;

struct MbarrierState {
  struct Waiter {
    int thread;
    unsigned parity;
    bool may_give_up;  ///< mbarrier_try_wait_parity()
  };

  std::uintptr_t address = 0;
  int index = 0;                  ///< in the block
  std::uint32_t arrivals = 0;     ///< of each phase
  std::uint32_t num_lacking = 0;  ///< arrivals of this phase
  std::uint32_t phase = 0;        ///< how many are over
  std::uint64_t announced = 0;    ///< bytes of this phase
  std::uint64_t arrived = 0;      ///< of these
  std::vector<int> copies;        ///< under way, as AsyncCopies numbers them
  std::vector<Waiter> waiters;
  SyncClock gathering;  ///< of this phase's arrivals and copies
  SyncClock over;       ///< of all phases that are over
};

/// One worker's mbarriers.
class Mbarriers {
 public:
  void begin_block() {
    num_used_ = 0;
    num_refusals_ = 0;
  }

  /// The functions of bulk_copy.h, by the running thread; pc: return address of the call.
  void make(Worker& worker, std::uintptr_t address, unsigned arrivals, std::uintptr_t pc);
  void arrive(Worker& worker, std::uintptr_t address, unsigned bytes, std::uintptr_t pc);
  /// Whether the phase is over. If not, the thread has been entered as a waiter, and finds in
  /// Fiber::result whether it is once it goes on.
  bool wait(Worker& worker, std::uintptr_t address, unsigned parity, bool may_give_up,
            std::uintptr_t pc);
  void start_copy(Worker& worker, std::uintptr_t destination, std::uintptr_t source, unsigned bytes,
                  std::uintptr_t address, std::uintptr_t pc);

  /// At a standstill: threads at mbarrier_try_wait_parity() get the answer that the phase is not
  /// over. False if there are none, or if nothing has come of it many times over.
  bool refuse_try_waits(Worker& worker);
  /// What the mbarriers that threads wait for lack: "; the mbarrier at byte 0 of 'full' lacks ...",
  /// or "".
  std::string describe_waits() const;

 private:
  /// The mbarrier at an address, for the running thread; does not return if there is none, or if
  /// nothing orders its initialisation before this use.
  MbarrierState& use(Worker& worker, std::uintptr_t address, std::uintptr_t pc);
  /// Lets bytes move and ends the phase if it is time to.
  void settle(Worker& worker, MbarrierState& barrier);
  void move_bytes(Worker& worker, MbarrierState& barrier);
  void end_phase(Worker& worker, MbarrierState& barrier);

  std::vector<std::unique_ptr<MbarrierState>> all_;  ///< the first num_used_ are this block's
  int num_used_ = 0;
  int num_refusals_ = 0;  ///< of waits, since the last arrival or copy
};

}  // namespace paged::simt
