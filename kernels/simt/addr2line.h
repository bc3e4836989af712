// addr2line as a process that stays.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace paged::simt {

/// A running `addr2line -a -i -e file`. To begin, it reads the debugging information of the file,
/// which takes a tenth of a second for a program of ours; then it answers in microseconds. It ends
/// when this process does, also by _exit(): of the children that were forked meanwhile none has its
/// input.
class Addr2line {
 public:
  /// Starts it; if that fails, it does not run. To read the debugging information of a large
  /// program on a busy machine takes seconds: that is no silence yet.
  explicit Addr2line(const std::string& file,
                     std::chrono::milliseconds longest_silence = std::chrono::seconds(30));
  ~Addr2line();
  Addr2line(const Addr2line&) = delete;
  Addr2line& operator=(const Addr2line&) = delete;

  /// What it prints of these addresses, line by line: for each address itself, then the lines of
  /// inlined functions from the inside out. What it has said so far, if it ends meanwhile, is
  /// ended, or is silent for too long: then it runs no more.
  std::vector<std::string> ask(const std::vector<std::uintptr_t>& addresses);

  /// It is of the process that has started it alone: a child of that one must start its own.
  bool runs() const;

 private:
  bool send(const std::string& text);
  bool receive_line(std::string& line);
  void stop();
  void end_process();

  int socket_ = -1;
  pid_t owner_ = 0;  ///< who has started it
  pid_t process_ = 0;
  std::string received_;  ///< and not yet taken
};

}  // namespace paged::simt
