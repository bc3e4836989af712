#include "kernels/simt/request_trace.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/program_symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace paged::simt {

namespace {

LaneValue value_at(std::uintptr_t address, std::size_t bytes) {
  LaneValue value{};
  if (bytes <= value.size())
    std::memcpy(value.data(), reinterpret_cast<const void*>(address), bytes);
  return value;
}

/// A piece of memory that has a name.
struct NamedMemory {
  std::string name;
  std::uintptr_t begin = 0;
};

/// What an address that a checked access may go to lies in. Called on the worker that it is of.
NamedMemory memory_at(std::uintptr_t address, bool shared) {
  if (shared) {
    const ThreadLocalVariable variable = thread_local_variable_at(address);
    return {variable.name, address - variable.offset};
  }
  const Allocation* const allocation = device_memory().find(address);
  if (allocation == nullptr) return {"", 0};
  return {allocation->name, allocation->begin()};
}

}  // namespace

// ---- all launches -------------------------------------------------------------------------------
RequestTrace& request_trace() {
  static RequestTrace trace;
  return trace;
}

void RequestTrace::switch_tracing(bool on) {
  const std::lock_guard lock(mutex_);
  on_ = on;
}

bool RequestTrace::is_on() const {
  const std::lock_guard lock(mutex_);
  return on_;
}

void RequestTrace::add_launch(std::vector<TracedRequest> requests) {
  const std::lock_guard lock(mutex_);
  if (!on_) return;
  std::stable_sort(
      requests.begin(), requests.end(),
      [](const TracedRequest& a, const TracedRequest& b) { return a.block < b.block; });
  for (TracedRequest& request : requests) request.launch = num_launches_;
  ++num_launches_;
  std::move(requests.begin(), requests.end(), std::back_inserter(requests_));
}

std::vector<TracedRequest> RequestTrace::take() {
  const std::lock_guard lock(mutex_);
  num_launches_ = 0;
  return std::exchange(requests_, {});
}

// ---- one worker ---------------------------------------------------------------------------------
void RequestRecorder::begin_launch() {
  on_ = request_trace().is_on();
  num_barriers_ = 0;
  if (on_) threads_.resize(kMaxThreads);
}

std::vector<TracedRequest> RequestRecorder::end_launch() {
  threads_ = {};
  first_of_block_ = 0;
  return std::exchange(requests_, {});
}

// A hook is called before the access: what is loaded is there, what is stored is there at the
// thread's next access.
void RequestRecorder::see(int thread, std::uintptr_t address, std::size_t bytes, AccessKind kind) {
  ThreadValues& of_thread = threads_[static_cast<std::size_t>(thread)];
  of_thread.settle();
  of_thread.values.push_back(kind == AccessKind::read ? value_at(address, bytes) : LaneValue{});
  if (kind != AccessKind::write) return;
  of_thread.stored_at = address;
  of_thread.stored_bytes = bytes;
}

void RequestRecorder::ThreadValues::settle() {
  if (stored_at != 0) values.back() = value_at(stored_at, stored_bytes);
  stored_at = 0;
}

void RequestRecorder::record(TracedRequest request, const WarpAccess& access) {
  request.barriers = num_barriers_;
  request.lanes = access.lanes;
  NamedMemory memory;
  access.for_each([&](int lane, std::uintptr_t address) {
    const auto index = static_cast<std::size_t>(lane);
    if (memory.begin == 0) memory = memory_at(address, request.shared);
    ThreadValues& thread = threads_[static_cast<std::size_t>(request.warp * kWarpSize + lane)];
    thread.settle();
    request.offsets[index] = static_cast<std::int64_t>(address - memory.begin);
    request.values[index] = thread.values[thread.num_recorded++];
  });
  request.memory = std::move(memory.name);
  requests_.push_back(std::move(request));
}

void RequestRecorder::forget_warp(int warp) {
  for (int lane = 0; lane < kWarpSize; ++lane)
    threads_[static_cast<std::size_t>(warp * kWarpSize + lane)] = {};
}

void RequestRecorder::end_block(std::uint64_t block, bool stopped) {
  if (stopped) requests_.resize(first_of_block_);
  for (std::size_t i = first_of_block_; i < requests_.size(); ++i) requests_[i].block = block;
  first_of_block_ = requests_.size();
  num_barriers_ = 0;
  for (ThreadValues& thread : threads_) thread = {};
}

}  // namespace paged::simt
