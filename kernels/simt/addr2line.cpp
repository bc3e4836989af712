#include "kernels/simt/addr2line.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace paged::simt {

namespace {

std::string hexadecimal(std::uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(value));
  return text;
}

// Nobody asks for this one: its answer, the address and a line, is the end of the others'.
constexpr std::uintptr_t kEnd = 0;

bool is_end(const std::string& line) {
  return line.size() > 2 && line[0] == '0' && line[1] == 'x' &&
         line.find_first_not_of('0', 2) == std::string::npos;
}

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
#if __GLIBC_PREREQ(2, 34)
  // It stays: a pipe that it kept open would have no end.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : 0;
}

}  // namespace

Addr2line::Addr2line(const std::string& file) : owner_(getpid()) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  socket_ = ends[0];
  process_ = start({"addr2line", "-a", "-i", "-e", file}, ends[1]);
  close(ends[1]);
  if (process_ == 0) stop();
}

Addr2line::~Addr2line() { stop(); }

bool Addr2line::runs() const { return socket_ >= 0 && owner_ == getpid(); }

// It ends when its input does, also where a child of this process has the socket open, too.
void Addr2line::stop() {
  const bool is_ours = owner_ == getpid();
  if (socket_ >= 0 && is_ours) shutdown(socket_, SHUT_RDWR);
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  received_.clear();
  if (!is_ours) return;
  while (process_ > 0 && waitpid(process_, nullptr, 0) == -1 && errno == EINTR) {
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
    std::string line;
    bool goes_on = send(question + hexadecimal(kEnd) + "\n");
    while (goes_on && (goes_on = receive_line(line)) && !is_end(line)) lines.push_back(line);
    if (!goes_on || !receive_line(line)) stop();
  }
  return lines;
}

}  // namespace paged::simt
