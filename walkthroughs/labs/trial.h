// Trying a submission: its lab's invariants in their order, then its transactions.
#pragma once
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/remote_device.h"
#include "walkthroughs/labs/submission.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace paged::labs {

/// A step of the rubric: an invariant, on some of its cases.
struct CheckOutcome {
  std::string id;    ///< of the invariant
  std::string step;  ///< LabCheck::step
  int points = 0;
  bool tried = false;  ///< false: one before it was not kept
  bool held = false;
  int cases = 0;              ///< that it was tried on
  std::string case_name;      ///< that it failed on
  std::string case_in_words;  ///< the same for people (case_words.h)
  std::string message;        ///< what is wrong and where
  std::string broken;         ///< the invariant that a finding breaks; "" without findings
  std::string cause;          ///< id of the likely cause; "" if the weights point at none
  std::string ended;     ///< "endless" or "crash" if the kernel's process did not answer, or ""
  std::string in_words;  ///< what failed, one sentence (failure_words.h)
  std::string reading;   ///< how to read that, or ""
  bool failed() const { return tried && !held; }
  int score() const { return tried && held ? points : 0; }
};

/// One total on one case.
struct CountOutcome {
  std::string case_name;
  std::string name;
  std::uint64_t counted = 0;
  std::uint64_t target = 0;
  std::string where;  ///< lines that make up what is counted, the student's first; "" if it held
  bool held() const { return counted <= target; }
};

struct TransactionOutcome {
  int points = 0;
  bool tried = false;
  bool held = false;
  std::vector<CountOutcome> counts;
  /// "" or a finding, or what is wrong with the output, in the first run of those that were counted
  /// where anything is: then the counts are those of another kernel than the one that was tried.
  std::string wrong;
  std::string impossible;  ///< "" or why these counts cannot be all
  int score() const { return tried && held ? points : 0; }
};

/// Everything there is to say about a submission.
struct TrialOutcome {
  std::string lab;
  std::string submission;
  std::string note;         ///< what ended the trial before its time, one line, or ""
  std::string remark;       ///< what was changed where nothing may be, one line, or ""
  std::string untouched;    ///< "" or that the files are as they were given, one line
  std::string other_lab;    ///< "" or the lab that its lab.txt names, which is not this one
  std::string compiler;     ///< what the compiler said
  std::string printed;      ///< by the kernel on the case that failed, its first kilobytes
  bool remembered = false;  ///< it was tried before (remembered_result.h)
  /// Not the sources alone decided it: the clock, memory that was not there, a tool that failed.
  /// The next time it may be another.
  bool by_chance = false;
  std::uint64_t printed_before = 0;  ///< bytes that it had printed when the failing case began
  bool shut_off = false;             ///< the kernel ran behind the system-call filter
  double build_seconds = 0;
  double check_seconds = 0;
  std::vector<CheckOutcome> checks;
  TransactionOutcome transactions;

  int score() const;
  int max_score() const;
};

/// With the rubric's points, and nothing tried.
TrialOutcome untried(const Lab& lab, const std::string& submission);

/// Stops at the first invariant that is not kept, but for those that stand alone; counts if all
/// others are kept. `own`: what the student wrote.
void try_on(RemoteDevice& device, const Lab& lab, const std::vector<OwnLines>& own,
            std::uint64_t seed, TrialOutcome& outcome,
            const std::function<void(const std::string& what)>& progress);

}  // namespace paged::labs
