// Asynchronous copies under way in one block, and the bytes of shared memory that wait for them.
//
// A copy's bytes move when they are waited for. From start to arrival nobody may touch where they
// go: a read there is a read_before_arrival, a write a data race. Start and arrival are both
// checked as writes of the thread, since hardware may write at any time in between. The source is
// checked as a read at the start; if it holds other values at the arrival, somebody wrote to it
// while hardware may have been reading.
#pragma once
#include "kernels/simt/fiber.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace paged::simt {

struct Access;
struct Worker;

struct AsyncCopy {
  std::uintptr_t destination = 0;  ///< in shared memory, a multiple of 4
  std::uintptr_t source = 0;       ///< in global memory
  std::uint32_t bytes = 0;         ///< a multiple of 4
  std::uint32_t source_bytes = 0;  ///< at most `bytes`; zeros follow
  std::uintptr_t pc = 0;           ///< return address of the call that started it
  std::uint16_t thread = 0;        ///< that called
  std::uint32_t group = 0;         ///< counted by cp_async_commit_group() of the thread
  std::uint64_t source_hash = 0;   ///< of the source when it started
};

/// One worker's copies. Needs no checked launch; only then are destinations watched.
class AsyncCopies {
 public:
  /// Forgets what the last block left under way.
  void begin_block();

  /// Checks a copy of the running thread and notes it down. Does not return if it must not happen.
  /// alignment, in bytes: of both addresses. Returns its number, for arrive().
  int start(Worker& worker, AsyncCopy copy, unsigned alignment);
  /// Moves the bytes and forgets the copy, whose description it returns. Does not return if the
  /// source has changed.
  AsyncCopy arrive(Worker& worker, int number);

  /// Starts a copy that the running thread waits for by groups.
  void start_in_group(Worker& worker, const AsyncCopy& copy, unsigned alignment);
  void commit_group(const Fiber& thread);
  /// Lets all copies of the running thread arrive but those of its latest `pending` groups, and, if
  /// `committed`, but those that no group holds.
  void arrive_in_groups(Worker& worker, unsigned pending, bool committed);

  bool are_watched() const { return num_watched_ != 0; }
  /// Looks at an access to shared memory; does not return if a copy has yet to arrive there.
  void see(Worker& worker, const Access& access) const;

 private:
  static constexpr std::size_t kWordBytes = 4;

  struct Free {
    void operator()(std::uint32_t* words) const;
  };
  struct ThreadCopies {
    std::vector<int> numbers;  ///< in the order of their starts
    std::uint32_t num_groups = 0;
  };

  void check(Worker& worker, const AsyncCopy& copy, unsigned alignment) const;
  /// Writes a number + 1, or 0, into all words of a destination.
  void mark(const AsyncCopy& copy, std::uint32_t value);

  std::vector<AsyncCopy> copies_;  ///< by number; bytes == 0: free
  std::vector<int> free_numbers_;
  std::unique_ptr<ThreadCopies[]> of_thread_ = std::make_unique<ThreadCopies[]>(kMaxThreads);
  bool used_ = false;                             ///< by this block
  int num_watched_ = 0;                           ///< copies whose destinations are marked
  std::uintptr_t begin_ = 0;                      ///< of shared memory
  std::unique_ptr<std::uint32_t[], Free> marks_;  ///< for each word; pages appear when touched
};

}  // namespace paged::simt
