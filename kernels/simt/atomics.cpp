// Atomic operations on the host, each checked as one access.
#include "kernels/simt/atomics.h"

#include "kernels/simt/quick_check.h"

namespace paged::simt {

namespace {

// Replaces *address by update(*address) as one step.
template <typename T, typename Update>
[[gnu::always_inline]] inline T replace(T* address, Update update) {
  T before;
  __atomic_load(address, &before, __ATOMIC_RELAXED);
  for (;;) {
    T after = update(before);
    if (__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
      return before;
  }
}

// The same as the kernel's access: checked, and in turn with others.
template <typename T, typename Update>
[[gnu::always_inline]] inline T do_atomic(T* address, void* pc, Update update) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  if (where - ignored_range.begin < ignored_range.size) return replace(address, update);
  Worker& worker = *current_worker;
  AccessChecker& checker = worker.checker;
  checker.check<sizeof(T)>(worker, where, AccessKind::atomic, reinterpret_cast<std::uintptr_t>(pc));
  const UncheckedScope unchecked;
  return checker.do_atomic(where, [&] { return replace(address, update); });
}

}  // namespace

template <typename T>
T atomic_add(T* address, T value) noexcept {
  return do_atomic(address, __builtin_return_address(0), [&](T before) { return before + value; });
}

template <typename T>
T atomic_max(T* address, T value) noexcept {
  return do_atomic(address, __builtin_return_address(0),
                   [&](T before) { return before < value ? value : before; });
}

template <typename T>
T atomic_min(T* address, T value) noexcept {
  return do_atomic(address, __builtin_return_address(0),
                   [&](T before) { return value < before ? value : before; });
}

template <typename T>
T atomic_exchange(T* address, T value) noexcept {
  return do_atomic(address, __builtin_return_address(0), [&](T) { return value; });
}

template <typename T>
T atomic_compare_and_swap(T* address, T expected, T desired) noexcept {
  return do_atomic(address, __builtin_return_address(0),
                   [&](T before) { return before == expected ? desired : before; });
}

template int atomic_add(int*, int) noexcept;
template unsigned atomic_add(unsigned*, unsigned) noexcept;
template unsigned long long atomic_add(unsigned long long*, unsigned long long) noexcept;
template float atomic_add(float*, float) noexcept;
template double atomic_add(double*, double) noexcept;
template int atomic_max(int*, int) noexcept;
template unsigned atomic_max(unsigned*, unsigned) noexcept;
template int atomic_min(int*, int) noexcept;
template unsigned atomic_min(unsigned*, unsigned) noexcept;
template int atomic_exchange(int*, int) noexcept;
template unsigned atomic_exchange(unsigned*, unsigned) noexcept;
template unsigned long long atomic_exchange(unsigned long long*, unsigned long long) noexcept;
template float atomic_exchange(float*, float) noexcept;
template int atomic_compare_and_swap(int*, int, int) noexcept;
template unsigned atomic_compare_and_swap(unsigned*, unsigned, unsigned) noexcept;
template unsigned long long atomic_compare_and_swap(unsigned long long*, unsigned long long,
                                                    unsigned long long) noexcept;

}  // namespace paged::simt
