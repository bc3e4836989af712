// A file descriptor with an owner.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace paged {

/// Closes a descriptor at the end of its life. -1: holds none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// A pipe that no other program gets unless it is handed over. Throws std::runtime_error.
inline Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Opens a file that no other program gets unless it is handed over. Throws std::runtime_error.
inline Descriptor open_file(const std::string& path, int flags, mode_t mode = 0) {
  const int number = open(path.c_str(), flags | O_CLOEXEC, mode);
  if (number < 0) throw std::runtime_error("cannot open " + path);
  return Descriptor(number);
}

}  // namespace paged
