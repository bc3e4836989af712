#include "kernels/simt/async_copies.h"

#include "kernels/simt/async_copy.h"
#include "kernels/simt/device_memory.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/reports.h"
#include "kernels/simt/shared_memory.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace paged::simt {

namespace {

std::string text_of(const AsyncCopy& copy) {
  return std::to_string(copy.bytes) + "-byte asynchronous copy";
}

// FNV-1a: equal for equal bytes; bytes that changed give another one but for rare luck.
std::uint64_t hash_of_source(const AsyncCopy& copy) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(copy.source);
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::uint32_t i = 0; i < copy.source_bytes; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3U;
  return hash;
}

[[noreturn]] void refuse(Worker& worker, FindingKind kind, const AsyncCopy& copy,
                         const std::string& what) {
  {
    const UncheckedScope unchecked;
    report(worker, kind, CodePlace{copy.pc, ""}, *worker.current, text_of(copy) + " " + what);
  }
  stop_block(worker);
}

void check_alignment(Worker& worker, const AsyncCopy& copy, const char* end, std::uintptr_t address,
                     unsigned alignment) {
  if (address % alignment == 0) return;
  refuse(worker, FindingKind::misaligned_access, copy,
         std::string(end) + " an address that is " + std::to_string(address % alignment) +
             " past a multiple of " + std::to_string(alignment) + " bytes");
}

[[noreturn]] void refuse_changed_source(Worker& worker, const AsyncCopy& copy) {
  const Allocation* allocation = device_memory().find(copy.source);
  refuse(worker, FindingKind::data_race, copy,
         "from " +
             (allocation == nullptr ? std::string("constants")
                                    : "byte " + std::to_string(copy.source - allocation->begin()) +
                                          " of '" + allocation->name + "'") +
             ", which was overwritten before the copy had arrived");
}

}  // namespace

void AsyncCopies::Free::operator()(std::uint32_t* words) const { std::free(words); }

void AsyncCopies::begin_block() {
  if (!used_) return;
  const UncheckedScope unchecked;
  for (const AsyncCopy& copy : copies_)
    if (copy.bytes != 0 && marks_ != nullptr) mark(copy, 0);
  copies_.clear();
  free_numbers_.clear();
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    of_thread_[thread].numbers.clear();
    of_thread_[thread].num_groups = 0;
  }
  num_watched_ = 0;
  used_ = false;
}

void AsyncCopies::check(Worker& worker, const AsyncCopy& copy, unsigned alignment) const {
  if (!is_shared_memory(copy.destination))
    refuse(worker, FindingKind::out_of_bounds_write, copy,
           "to an address that is no shared memory");
  if (copy.source_bytes > copy.bytes)
    refuse(worker, FindingKind::out_of_bounds_read, copy,
           "that reads " + std::to_string(copy.source_bytes) + " bytes");
  check_alignment(worker, copy, "to", copy.destination, alignment);
  check_alignment(worker, copy, "from", copy.source, alignment);
  if (copy.source_bytes != 0) {
    if (is_shared_memory(copy.source))
      refuse(worker, FindingKind::out_of_bounds_read, copy, "from shared memory");
    worker.checker.check_thoroughly(worker,
                                    {copy.source, copy.source_bytes, AccessKind::read, copy.pc}, 1);
  }
  worker.checker.check_thoroughly(worker,
                                  {copy.destination, copy.bytes, AccessKind::write, copy.pc}, 1);
}

void AsyncCopies::mark(const AsyncCopy& copy, std::uint32_t value) {
  std::fill_n(&marks_[(copy.destination - begin_) / kWordBytes], copy.bytes / kWordBytes, value);
}

int AsyncCopies::start(Worker& worker, AsyncCopy copy, unsigned alignment) {
  const bool checked = worker.launch->checked;
  if (checked) check(worker, copy, alignment);

  const UncheckedScope unchecked;
  used_ = true;
  if (free_numbers_.empty()) {
    free_numbers_.push_back(static_cast<int>(copies_.size()));
    copies_.emplace_back();
  }
  const int number = free_numbers_.back();
  free_numbers_.pop_back();
  if (checked) {
    if (marks_ == nullptr) {
      const ThreadLocalImage image = thread_local_image();
      begin_ = image.begin / kWordBytes * kWordBytes;
      marks_.reset(static_cast<std::uint32_t*>(
          std::calloc(image.size / kWordBytes + 2, sizeof(std::uint32_t))));
      if (marks_ == nullptr) throw std::bad_alloc();
    }
    copy.source_hash = hash_of_source(copy);
    mark(copy, static_cast<std::uint32_t>(number) + 1);
    ++num_watched_;
  }
  copies_[number] = copy;
  return number;
}

AsyncCopy AsyncCopies::arrive(Worker& worker, int number) {
  const UncheckedScope unchecked;
  const AsyncCopy copy = copies_[number];
  copies_[number].bytes = 0;
  free_numbers_.push_back(number);
  if (worker.launch->checked) {
    mark(copy, 0);
    --num_watched_;
    if (hash_of_source(copy) != copy.source_hash) refuse_changed_source(worker, copy);
  }
  auto* const to = reinterpret_cast<std::uint8_t*>(copy.destination);
  if (copy.source_bytes != 0)
    std::memcpy(to, reinterpret_cast<const void*>(copy.source), copy.source_bytes);
  std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  return copy;
}

void AsyncCopies::start_in_group(Worker& worker, const AsyncCopy& copy, unsigned alignment) {
  AsyncCopy grouped = copy;
  grouped.group = of_thread_[copy.thread].num_groups;
  const int number = start(worker, grouped, alignment);
  worker.counter.see_async_copy(*worker.current, copy);
  const UncheckedScope unchecked;
  of_thread_[copy.thread].numbers.push_back(number);
}

void AsyncCopies::commit_group(const Fiber& thread) {
  used_ = true;
  ++of_thread_[thread.id].num_groups;
}

void AsyncCopies::arrive_in_groups(Worker& worker, unsigned pending, bool committed) {
  ThreadCopies& own = of_thread_[worker.current->id];
  const std::uint32_t num_over = own.num_groups - std::min(own.num_groups, pending);
  std::size_t num_arrived = 0;
  while (num_arrived < own.numbers.size() &&
         (!committed || copies_[own.numbers[num_arrived]].group < num_over)) {
    const AsyncCopy copy = arrive(worker, own.numbers[num_arrived++]);
    if (worker.launch->checked)
      worker.checker.at_copy_arrival(worker,
                                     {copy.destination, copy.bytes, AccessKind::write, copy.pc});
  }
  const UncheckedScope unchecked;
  own.numbers.erase(own.numbers.begin(),
                    own.numbers.begin() + static_cast<std::ptrdiff_t>(num_arrived));
}

void AsyncCopies::see(Worker& worker, const Access& access) const {
  const std::size_t first = (access.address - begin_) / kWordBytes;
  const std::size_t last = (access.address + access.size - 1 - begin_) / kWordBytes;
  const std::uint32_t* const marked =
      std::find_if(&marks_[first], &marks_[last] + 1, [](std::uint32_t mark) { return mark != 0; });
  if (marked == &marks_[last] + 1) return;
  {
    const UncheckedScope unchecked;
    const AsyncCopy& copy = copies_[*marked - 1];
    const Fiber& thread = worker.fibers[copy.thread];
    const bool reads = access.kind == AccessKind::read;
    worker.findings.add({reads ? FindingKind::read_before_arrival : FindingKind::data_race,
                         worker.launch->kernel, CodePlace{access.pc, ""},
                         describe_thread(*worker.current) + ": " + std::to_string(access.size) +
                             "-byte " + name_of(access.kind) + " at " +
                             place_in_shared_memory(access.address) +
                             (reads ? " before a " : " races with a ") + text_of(copy) + " by " +
                             text_of_thread(thread) +
                             (reads ? " has been waited for, which starts" : ", which starts"),
                         1, CodePlace{copy.pc, ""}});
  }
  stop_block(worker);
}

void start_async_copy(void* destination, const void* source, unsigned bytes,
                      unsigned source_bytes) noexcept {
  Worker& worker = *current_worker;
  AsyncCopy copy;
  copy.destination = reinterpret_cast<std::uintptr_t>(destination);
  copy.source = reinterpret_cast<std::uintptr_t>(source);
  copy.bytes = bytes;
  copy.source_bytes = source_bytes;
  copy.pc = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  copy.thread = static_cast<std::uint16_t>(worker.current->id);
  worker.async_copies.start_in_group(worker, copy, bytes);
}

void commit_async_copies() noexcept {
  Worker& worker = *current_worker;
  worker.async_copies.commit_group(*worker.current);
}

void wait_for_async_copies(unsigned pending) noexcept {
  current_worker->async_copies.arrive_in_groups(*current_worker, pending, true);
}

void wait_for_all_async_copies() noexcept {
  current_worker->async_copies.arrive_in_groups(*current_worker, 0, false);
}

}  // namespace paged::simt
