#include "walkthroughs/labs/system_call_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <initializer_list>

namespace paged::labs {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArchitecture = 0;  // none: there is no filter
#endif

/// Memory, threads, time, signal handlers, what is open already, and a program's beginning.
constexpr long kAllowed[] = {
    SYS_read,          SYS_write,           SYS_close,
    SYS_ppoll,         SYS_munmap,          SYS_mprotect,
    SYS_mremap,        SYS_madvise,         SYS_brk,
    SYS_futex,         SYS_sched_yield,     SYS_sched_getaffinity,
    SYS_rt_sigaction,  SYS_rt_sigprocmask,  SYS_rt_sigreturn,
    SYS_sigaltstack,   SYS_set_tid_address, SYS_set_robust_list,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_restart_syscall,
    SYS_getrandom,     SYS_gettid,          SYS_getpid,
    SYS_exit,          SYS_exit_group,
#ifdef SYS_arch_prctl
    SYS_arch_prctl,  // where thread-local variables are
#endif
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};

/// Asked for by the C library now and then, which goes on without.
constexpr long kRefused[] = {
    SYS_openat, SYS_readlinkat, SYS_newfstatat, SYS_fstat, SYS_statx,
    SYS_lseek,  SYS_prlimit64,  SYS_prctl,      SYS_ioctl, SYS_uname,
#ifdef SYS_open
    SYS_open,   SYS_readlink,   SYS_access,
#endif
};

/// A test of the lower half of an argument.
struct Condition {
  unsigned argument;
  unsigned short test;  ///< BPF_JEQ: is the value; BPF_JSET: has a bit of it
  unsigned value;
  bool wanted = true;
};

sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
}
sock_filter answer(unsigned action) { return {BPF_RET | BPF_K, 0, 0, action}; }

/// The program of the filter. Its input is the number of a system call and its arguments.
class Filter {
 public:
  Filter() {
    add(load(offsetof(seccomp_data, arch)));
    add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture});
    add(answer(SECCOMP_RET_KILL_PROCESS));
    add(load(offsetof(seccomp_data, nr)));  // stays loaded until allow_if()
  }

  void answer_to(long number, unsigned action) {
    add({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(number)});
    add(answer(action));
  }
  /// Allows a call if all conditions hold.
  void allow_if(long number, std::initializer_list<Condition> conditions) {
    // Behind the conditions, of two instructions each, stands the answer.
    auto left = static_cast<unsigned char>(2 * conditions.size() + 1);
    add({BPF_JMP | BPF_JEQ | BPF_K, 0, left, static_cast<unsigned>(number)});
    for (const Condition& condition : conditions) {
      left = static_cast<unsigned char>(left - 2);
      // Both architectures are little-endian.
      add(load(offsetof(seccomp_data, args) + 8 * condition.argument));
      add({static_cast<unsigned short>(BPF_JMP | condition.test | BPF_K),
           condition.wanted ? static_cast<unsigned char>(0) : left,
           condition.wanted ? left : static_cast<unsigned char>(0), condition.value});
    }
    add(answer(SECCOMP_RET_ALLOW));
    add(load(offsetof(seccomp_data, nr)));
  }

  bool install() {
    add(answer(SECCOMP_RET_KILL_PROCESS));
    if (size_ > code_.size()) return false;
    const sock_fprog program{static_cast<unsigned short>(size_), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void add(const sock_filter& instruction) {
    if (size_ < code_.size()) code_[size_] = instruction;
    ++size_;
  }

  std::array<sock_filter, 256> code_;  // memory cannot be asked for between fork() and exec()
  std::size_t size_ = 0;
};

}  // namespace

bool has_system_call_filter() {
  unsigned action = SECCOMP_RET_KILL_PROCESS;
  return kArchitecture != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool enter_system_call_filter(int program) {
  if (kArchitecture == 0) return false;
  Filter filter;
  for (const long number : kAllowed) filter.answer_to(number, SECCOMP_RET_ALLOW);
  for (const long number : kRefused) filter.answer_to(number, SECCOMP_RET_ERRNO | EPERM);
  // The C library falls back from clone3(), whose flags a filter cannot see, to clone().
  filter.answer_to(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  filter.allow_if(SYS_clone, {{0, BPF_JSET, CLONE_THREAD}});
  filter.allow_if(SYS_tgkill, {{0, BPF_JEQ, static_cast<unsigned>(getpid())}});  // abort()
  // Neither shared memory nor what grows like a stack is in the limit on memory.
  filter.allow_if(SYS_mmap, {{3, BPF_JSET, MAP_SHARED | MAP_GROWSDOWN, false}});
  filter.allow_if(SYS_execveat,
                  {{0, BPF_JEQ, static_cast<unsigned>(program)}, {4, BPF_JEQ, AT_EMPTY_PATH}});
  return filter.install();
}

}  // namespace paged::labs
