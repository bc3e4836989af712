#include "kernels/simt/worker_pool.h"

#include "kernels/simt/device_memory.h"
#include "kernels/simt/fault_handler.h"
#include "kernels/simt/finding_log.h"
#include "kernels/simt/launch_limits.h"
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
  explicit Launch(const LaunchRequest& request_)
      : request(request_),
        num_blocks(std::uint64_t{request_.grid.x} * request_.grid.y * request_.grid.z) {}

  LaunchRequest request;
  std::uint64_t num_blocks;
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> stopping_block{~std::uint64_t{0}};  ///< the first that was stopped
  LaunchFindings findings;
};

void note_stop(Launch& launch, std::uint64_t block) {
  std::uint64_t first = launch.stopping_block;
  while (block < first && !launch.stopping_block.compare_exchange_weak(first, block)) {
  }
}

// Blocks are handed out in order, so that all blocks before the first stopped one run to their end.
void run_blocks(Worker& worker, Launch& launch) {
  worker.checker.begin_launch();
  while (launch.stopping_block == ~std::uint64_t{0}) {
    const std::uint64_t block = launch.next_block.fetch_add(1);
    if (block >= launch.num_blocks) return;
    run_block(worker, launch.request, block);
    if (worker.stopped) note_stop(launch, block);
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

}  // namespace

void set_worker_count(int count) { pool().set_count(count); }
int worker_count() { return pool().count(); }
const void* latest_kernel() { return latest; }

void run_launch(const LaunchRequest& request) {
  check_launch_limits(request);
  latest = request.kernel;
  if (!request.checked) device_memory().stop_tracking();
  Launch launch(request);
  pool().run(launch);
  const std::uint64_t stopping_block = launch.stopping_block;
  finding_log().add(launch.findings.up_to(stopping_block), stopping_block != ~std::uint64_t{0});
}

}  // namespace paged::simt
