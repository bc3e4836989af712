#include "kernels/simt/addr2line.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace paged::simt {

namespace {

std::string hexadecimal(std::uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(value));
  return text;
}

// No code lies there, and nobody asks for this one: its answer, the address and a line, is the end
// of the others'. (At 0 lie functions that the linker has dropped, which llvm-addr2line tells of.)
constexpr std::uintptr_t kEnd = ~std::uintptr_t{0};

timeval timeval_of(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_usec = std::chrono::microseconds(time - seconds).count()};
}

// The ends of those that run. A child would keep its parent's addr2line waiting for more, and what
// it wrote there would be taken for the parent's: it closes them.
class OpenSockets {
 public:
  static OpenSockets& all() {
    static OpenSockets sockets;
    return sockets;
  }
  void add(int socket) { change(0, socket); }
  void remove(int socket) { change(socket, 0); }

 private:
  OpenSockets() {
    pthread_atfork(nullptr, nullptr, [] { all().close_in_child(); });
  }
  // Without a lock, since another thread may have it when this one forks. Sockets that find no
  // place stay open in children. A place of 0 is free.
  void change(int from, int to) {
    for (std::atomic<int>& place : places_) {
      int expected = from;
      if (place.compare_exchange_strong(expected, to)) return;
    }
  }
  void close_in_child() {
    for (std::atomic<int>& place : places_)
      if (const int socket = place.exchange(0); socket > 0) close(socket);
  }

  std::array<std::atomic<int>, 64> places_ = {};
};

// Starts a program with `both` for its standard input and output and nothing else of ours; 0 if it
// cannot be.
pid_t start(const std::vector<std::string>& words, int both) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, both, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, both, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
#ifdef __GLIBC_PREREQ
#  if __GLIBC_PREREQ(2, 34)
  // It stays: a pipe that it kept open would have no end.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#  endif
#endif
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : 0;
}

}  // namespace

Addr2line::Addr2line(const std::string& file, std::chrono::milliseconds longest_silence)
    : owner_(getpid()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  socket_ = ends[0];
  OpenSockets::all().add(socket_);
  const timeval limit = timeval_of(longest_silence);
  for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(socket_, SOL_SOCKET, which, &limit, sizeof limit);
  process_ = start({"addr2line", "-a", "-i", "-e", file}, ends[1]);
  close(ends[1]);
  if (process_ == 0) stop();
}

Addr2line::~Addr2line() { stop(); }

bool Addr2line::runs() const { return socket_ >= 0 && owner_ == getpid(); }

// In a child, the socket is closed already, and its number may be another file's.
void Addr2line::stop() {
  const bool is_ours = owner_ == getpid();
  if (is_ours && socket_ >= 0) {
    OpenSockets::all().remove(socket_);
    close(socket_);
  }
  socket_ = -1;
  received_.clear();
  if (is_ours) end_process();
}

// It may hang, so it is ended; it has nothing to lose. Who ends all that this process has started
// may have waited for it already, and its number be another process's: only a child of ours that
// was not waited for is ended.
void Addr2line::end_process() {
  siginfo_t info = {};
  if (process_ > 0 &&
      waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) == -1 && errno == EINTR) {
    }
  }
  process_ = 0;
}

// A socket, since a write to one whose other end is gone can be told to raise no signal.
bool Addr2line::send(const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool Addr2line::receive_line(std::string& line) {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    char piece[4096];
    const ssize_t count = recv(socket_, piece, sizeof piece, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received_.append(piece, static_cast<std::size_t>(count));
  }
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return true;
}

std::vector<std::string> Addr2line::ask(const std::vector<std::uintptr_t>& addresses) {
  // So few at a time that neither waits for the other to take what it has said.
  constexpr std::size_t kAtATime = 32;
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < addresses.size() && runs(); first += kAtATime) {
    std::string question;
    for (std::size_t i = first; i < std::min(first + kAtATime, addresses.size()); ++i)
      question += hexadecimal(addresses[i]) + "\n";
    const std::string end = hexadecimal(kEnd);
    std::string line;
    bool goes_on = send(question + end + "\n");
    while (goes_on && (goes_on = receive_line(line)) && line != end) lines.push_back(line);
    if (!goes_on || !receive_line(line)) stop();
  }
  return lines;
}

}  // namespace paged::simt
