#include "walkthroughs/labs/system_call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace paged::labs {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArchitecture = 0;  // none: there is no filter
#endif

/// Memory, threads, time, signal handlers, and what is open already.
constexpr long kAllowed[] = {
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_ppoll,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_set_robust_list,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_restart_syscall,
    SYS_getrandom,
    SYS_gettid,
    SYS_getpid,
    SYS_exit,
    SYS_exit_group,
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
    SYS_lseek,  SYS_prlimit64,  SYS_prctl,      SYS_ioctl,
#ifdef SYS_open
    SYS_open,   SYS_readlink,
#endif
};

sock_filter load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
}
sock_filter answer(unsigned action) { return {BPF_RET | BPF_K, 0, 0, action}; }

/// The program of the filter. Its input is the number of a system call and its arguments.
class Filter {
 public:
  Filter() {
    code_ = {load(offsetof(seccomp_data, arch)),
             {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
             answer(SECCOMP_RET_KILL_PROCESS)};
  }

  void answer_to(long number, unsigned action) {
    code_.push_back(load(offsetof(seccomp_data, nr)));
    code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(number)});
    code_.push_back(answer(action));
  }
  /// Allows a call if the lower half of its first argument passes a test.
  void allow_if(long number, unsigned short test, unsigned value) {
    code_.push_back(load(offsetof(seccomp_data, nr)));
    code_.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 3, static_cast<unsigned>(number)});
    code_.push_back(load(offsetof(seccomp_data, args)));  // both architectures are little-endian
    code_.push_back({static_cast<unsigned short>(BPF_JMP | test | BPF_K), 0, 1, value});
    code_.push_back(answer(SECCOMP_RET_ALLOW));
  }

  bool install() {
    code_.push_back(answer(SECCOMP_RET_KILL_PROCESS));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  std::vector<sock_filter> code_;
};

}  // namespace

bool enter_system_call_filter() {
  if (kArchitecture == 0) return false;
  Filter filter;
  for (const long number : kAllowed) filter.answer_to(number, SECCOMP_RET_ALLOW);
  for (const long number : kRefused) filter.answer_to(number, SECCOMP_RET_ERRNO | EPERM);
  // The C library falls back from clone3(), whose flags a filter cannot see, to clone().
  filter.answer_to(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  filter.allow_if(SYS_clone, BPF_JSET, CLONE_THREAD);
  filter.allow_if(SYS_tgkill, BPF_JEQ, static_cast<unsigned>(getpid()));  // abort()
  return filter.install();
}

}  // namespace paged::labs
