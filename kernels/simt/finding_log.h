// Collects findings so that what is reported does not depend on how blocks were spread over
// workers.
#pragma once
#include "kernels/finding.h"
#include "kernels/simt/schedule.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

namespace paged::simt {

/// Where in the program something happened.
struct CodePlace {
  std::uintptr_t pc = 0;  ///< a return address, to be looked up; 0 if there is none
  std::string location;   ///< "file:line" if the look-up fails; "" if it is not known

  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// "file:line" of a position in the source.
std::string text_of(const std::source_location& where);

/// A finding before its place has been looked up.
struct RecordedFinding {
  FindingKind kind;
  const void* kernel;  ///< the kernel's address, or null
  CodePlace place;
  std::string message;
  std::uint64_t count = 1;
  CodePlace other = {};          ///< of the other access, whose line ends the message; or none
  const char* advice = nullptr;  ///< in place of what advice.h has for the kind
  Schedule schedule = {};        ///< that the launch ran under
};

/// The findings of the block that a worker runs.
class BlockFindings {
 public:
  void begin(std::uint64_t position);
  /// Counts a repetition of a finding already made in this block. False if it is a new one.
  bool count_again(FindingKind kind, const CodePlace& place);
  void add(RecordedFinding finding) { findings_.push_back(std::move(finding)); }

  /// Of the block in the order in which the launch hands out blocks.
  std::uint64_t position() const { return position_; }
  std::vector<RecordedFinding>& all() { return findings_; }

 private:
  std::uint64_t position_ = 0;
  std::vector<RecordedFinding> findings_;
};

/// The findings of one launch, from all workers.
class LaunchFindings {
 public:
  /// Takes over what a block found. Any worker may call it.
  void add_block(BlockFindings& block);
  /// All of them in the order in which blocks were handed out, up to and including the block that
  /// stopped the launch: later blocks ran or not, as it happened.
  std::vector<RecordedFinding> up_to(std::uint64_t last_position);

 private:
  struct OfBlock {
    std::uint64_t position;
    std::vector<RecordedFinding> findings;
  };
  std::mutex mutex_;
  std::vector<OfBlock> blocks_;
};

/// Everything found since it was last taken. Thread-safe.
class FindingLog {
 public:
  void add(const std::vector<RecordedFinding>& findings, bool stopped);
  /// Looks up the places, merges equal findings, and forgets them.
  std::vector<Finding> take();
  /// A launch was stopped by a finding that has not been taken: its outputs are incomplete.
  bool holds_stopped_launch() const { return stopped_; }

 private:
  std::mutex mutex_;
  std::vector<RecordedFinding> findings_;
  std::atomic<bool> stopped_ = false;
};

/// The log of the process.
FindingLog& finding_log();

}  // namespace paged::simt
