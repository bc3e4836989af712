#include "kernels/simt/worker_pool.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/fault_handler.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch_limits.h"
#include "kernels/simt/races_between_blocks.h"
#include "kernels/simt/schedule.h"
#include "kernels/simt/worker.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace paged::simt {

namespace {

// One launch as the workers share it.
struct Launch {
  Launch(const LaunchRequest& request_, const Schedule& schedule_,
         const GlobalLaunch::Allocations& watched)
      : request(request_),
        schedule(schedule_),
        num_blocks(std::uint64_t{request_.grid.x} * request_.grid.y * request_.grid.z),
        global(num_blocks, watched) {}

  bool was_stopped() const { return stopping_position != ~std::uint64_t{0}; }

  const LaunchRequest request;
  const Schedule schedule;
  const std::uint64_t num_blocks;
  std::atomic<std::uint64_t> next_position{0};
  /// Of the first block that was stopped.
  std::atomic<std::uint64_t> stopping_position{~std::uint64_t{0}};
  LaunchFindings findings;
  GlobalLaunch global;
  CountsOfLaunch counts;
};

void note_stop(Launch& launch, std::uint64_t position) {
  std::uint64_t first = launch.stopping_position;
  while (position < first && !launch.stopping_position.compare_exchange_weak(first, position)) {
  }
}

// Blocks are handed out in one order, so that all before the first stopped one run to their end.
void run_blocks(Worker& worker, Launch& launch) {
  worker.launch = &launch.request;
  worker.schedule = launch.schedule;
  worker.counter.begin_launch(launch.request);  // first: the checker asks whether it counts
  worker.checker.begin_launch(worker, launch.global);
  while (!launch.was_stopped()) {
    const std::uint64_t position = launch.next_position.fetch_add(1);
    if (position >= launch.num_blocks) return;
    run_block(worker, position, block_at(launch.schedule, position, launch.num_blocks));
    if (worker.stopped) note_stop(launch, position);
    launch.findings.add_block(worker.findings);
  }
}

// Never destroyed: its threads sleep until the process ends. A fiber stays on the OS thread that it
// began on, since compiled code keeps addresses of thread-local variables.
class WorkerPool {
 public:
  int count() const { return count_; }

  void set_count(int count) {
    const std::lock_guard launching(launching_);
    count_ = std::max(count, 1);
  }

  void run(Launch& launch) {
    const std::lock_guard launching(launching_);
    const auto busy = static_cast<int>(
        std::min<std::uint64_t>(static_cast<unsigned>(count()), launch.num_blocks));
    for (; num_threads_ < busy; ++num_threads_)
      std::thread([this, index = num_threads_] { serve(index); }).detach();
    std::unique_lock lock(mutex_);
    launch_ = &launch;
    num_busy_ = num_running_ = busy;
    ++generation_;
    wake_.notify_all();
    done_.wait(lock, [&] { return num_running_ == 0; });
  }

 private:
  // Each worker has up to 1024 stacks with guards, two mappings each; Linux allows 65530 in all.
  static int default_count() {
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 24);
  }

  void serve(int index) {
    const auto worker = std::make_unique<Worker>();
    current_worker = worker.get();
    prepare_for_faults(*worker);
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen && index < num_busy_; });
      seen = generation_;
      Launch& launch = *launch_;
      lock.unlock();
      run_blocks(*worker, launch);
      worker->counter.end_launch(launch.counts);
      lock.lock();
      if (--num_running_ == 0) done_.notify_one();
    }
  }

  std::mutex launching_;  // one launch at a time
  std::atomic<int> count_ = default_count();
  int num_threads_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Launch* launch_ = nullptr;
  std::uint64_t generation_ = 0;
  int num_busy_ = 0;     // workers that take part in this generation
  int num_running_ = 0;  // of these, not finished yet
};

std::atomic<const void*> latest = nullptr;

WorkerPool& pool() {
  static auto* const the_pool = new WorkerPool;
  return *the_pool;
}

void record(Launch& launch) {
  const std::uint64_t last = launch.stopping_position;
  std::vector<RecordedFinding> findings = launch.findings.up_to(last);
  for (RecordedFinding& race :
       find_races_between_blocks(launch.request, launch.global.logs_up_to(last)))
    findings.push_back(std::move(race));
  for (RecordedFinding& finding : findings) finding.schedule = launch.schedule;
  finding_log().add(findings, launch.was_stopped());
  count_log().add(launch.counts, launch.was_stopped());
}

}  // namespace

void set_worker_count(int count) { pool().set_count(count); }
int worker_count() { return pool().count(); }
const void* latest_kernel() { return latest; }

void run_launch(const LaunchRequest& request) {
  check_launch_limits(request);
  const DeviceMemory::Launching launching(device_memory());
  latest = request.kernel;
  if (!request.checked) device_memory().stop_tracking();
  const Schedule schedule = current_schedule();
  Launch launch(request, schedule, {});
  pool().run(launch);
  const GlobalLaunch::Allocations watched = launch.global.read_and_written();
  if (launch.was_stopped() || watched.empty()) return record(launch);
  // What it read may race with what it wrote. See global_races.h.
  launch.global.saved_pages().restore();
  Launch again(request, schedule, watched);
  pool().run(again);
  record(again);
}

}  // namespace paged::simt
