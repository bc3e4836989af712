#include "kernels/simt/fault_handler.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/worker.h"

#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <string>

namespace paged::simt {

namespace {

constexpr std::size_t kSignalStackBytes = 16 * 1024;
constexpr std::size_t kReportStackBytes = 64 * 1024;

// SIGILL or SIGTRAP is what a trap of the compiler makes, by processor.
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
// Their handlers from before ours.
struct sigaction previous[std::size(kSignals)];

struct Fault {
  std::uintptr_t address = 0;
  std::uintptr_t pc = 0;
  bool is_write = false;  ///< only x86-64 tells
  bool is_trap = false;
};
thread_local Fault fault;

void report_fault(Worker& worker) {
  const UncheckedScope unchecked;
  const Fiber& fiber = *worker.current;
  const CodePlace place{fault.pc + 1, ""};  // looked up as a return address
  if (fault.is_trap)
    report(
        worker, FindingKind::index_out_of_array, place, fiber,
        "uses an index outside of its array, or a pointer outside of the variable that it points "
        "to");
  else if (worker.fibers.owner_of_guard(fault.address) != nullptr)
    report(worker, FindingKind::stack_overflow, place, fiber,
           "has used up its stack of " + std::to_string(FiberArena::kStackBytes / 1024) + " KB");
  else
    report(worker,
           fault.is_write ? FindingKind::out_of_bounds_write : FindingKind::out_of_bounds_read,
           place, fiber, "faults on an access " + device_memory().describe(fault.address));
}

// Runs on the report stack, as if the faulting instruction had called it.
[[noreturn]] void report_and_stop() {
  report_fault(*current_worker);
  stop_block(*current_worker);
}

// Leaves the handler into report_and_stop instead of the faulting instruction.
void divert(ucontext_t& context, Worker& worker) {
  auto top = reinterpret_cast<std::uintptr_t>(worker.fault_stack.get()) + kSignalStackBytes +
             kReportStackBytes;
  top = top / 16 * 16;
#if defined(__x86_64__)
  fault.pc = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  fault.is_write = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;  // page-fault error code, W bit
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
  context.uc_mcontext.gregs[REG_RIP] =
      static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&report_and_stop));
#elif defined(__aarch64__)
  fault.pc = context.uc_mcontext.pc;
  context.uc_mcontext.sp = top;
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(&report_and_stop);
#else
#  error "the fault handler knows x86-64 and aarch64"
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Worker* const worker = current_worker;
  if (worker == nullptr || worker->current == nullptr) {
    // No kernel's fault: let the instruction fault again, under whoever was responsible before.
    const auto* const ours = std::find(std::begin(kSignals), std::end(kSignals), signal);
    sigaction(signal, &previous[ours - kSignals], nullptr);
    return;
  }
  fault.is_trap = signal == SIGILL || signal == SIGTRAP;
  fault.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  divert(*static_cast<ucontext_t*>(context), *worker);
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &action, &previous[i]);
}

}  // namespace

void prepare_for_faults(Worker& worker) {
  static std::once_flag once;
  std::call_once(once, install_handlers);
  worker.fault_stack = std::make_unique<char[]>(kSignalStackBytes + kReportStackBytes);
  stack_t stack = {};
  stack.ss_sp = worker.fault_stack.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace paged::simt
