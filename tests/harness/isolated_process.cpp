#include "tests/harness/isolated_process.h"

#include "tests/harness/host_device.h"
#include "tests/harness/left_over_processes.h"
#include "tests/harness/limited_child.h"
#include "tests/harness/wrapped_text.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <stdexcept>
#include <utility>

namespace paged {

/// Memory of both processes.
struct ParentLine::Shared {
  std::atomic<std::int64_t> call_began{0};  ///< nanoseconds; 0: no call is on its way
  std::atomic<std::int64_t> last_sign{0};   ///< of life
  std::atomic<bool> is_broken{false};       ///< the child could not send
  MemoryFault fault;
  char error[512] = "";  ///< what the work threw
};

namespace {

/// What the harness itself may take between two calls.
constexpr double kSecondsBetweenCalls = 600;
constexpr std::size_t kRememberedOutput = 2000;
constexpr const char* kGarbled =
    "wrote to a file that is not its own, or its process sent what makes no sense: ";

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

// ---- messages: a count, then a length and as many bytes for each field --------------------------
void append_number(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string bytes_of(const Message& message) {
  std::string bytes;
  append_number(bytes, message.size());
  for (const std::string& field : message) {
    append_number(bytes, field.size());
    bytes += field;
  }
  return bytes;
}

/// "a message of 13 fields, where at most 9 are due"
std::string too_many(const std::string& what, std::uint64_t count, const std::string& of,
                     std::size_t most) {
  return what + " of " + std::to_string(count) + " " + of + ", where at most " +
         std::to_string(most) + " are due";
}

/// What the front of the bytes is.
struct Front {
  std::optional<Message> message;  ///< nothing: it is not all there yet
  std::size_t bytes = 0;           ///< of it
  std::string complaint = {};      ///< it cannot become a message
};

/// Believes no number: whatever is in the child's process can write to the line.
Front front_of(const std::string& bytes, const MessageRule& rule) {
  std::size_t at = 0;
  const auto number = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    if (bytes.size() - at < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto count = number();
  if (!count) return {};
  if (*count > rule.most_fields)
    return {{}, 0, too_many("a message", *count, "fields", rule.most_fields)};
  Message message;
  std::size_t left = rule.most_bytes;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto length = number();
    if (!length) return {};
    if (*length > left) return {{}, 0, too_many("a field", *length, "bytes", left)};
    if (bytes.size() - at < *length) return {};
    message.push_back(bytes.substr(at, *length));
    at += *length;
    left -= *length;
  }
  std::string complaint = rule.complaint ? rule.complaint(message) : "";
  return {std::move(message), at, std::move(complaint)};
}

// ---- what the child does ------------------------------------------------------------------------
// A signal handler has no arguments of one's own.
const HostDevice* g_device = nullptr;
MemoryFault* g_fault = nullptr;

/// What the processor knew about the access.
struct RefusedAccess {
  bool is_write = false;
  std::uintptr_t stack_pointer = 0;  ///< 0: unknown
};

RefusedAccess access_in([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr std::uint64_t kWriteBit = 2;  // of the page fault's error code
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return {(static_cast<std::uint64_t>(registers[REG_ERR]) & kWriteBit) != 0,
          static_cast<std::uintptr_t>(registers[REG_RSP])};
#else
  return {};
#endif
}

/// Writes down where the access was; the same access then ends the process.
void on_refused_access(int signal_number, siginfo_t* info, void* context) {
  signal(signal_number, SIG_DFL);
  if (info->si_code == SI_KERNEL) {
    g_fault->kind = MemoryFault::Kind::no_address;
  } else if (info->si_code > 0) {
    const RefusedAccess access = access_in(context);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    *g_fault = g_device->locate(address, access.is_write);
    constexpr std::uintptr_t kFrame = std::uintptr_t{1} << 16;  // room for one function's variables
    const bool on_stack =
        address + kFrame > access.stack_pointer && address < access.stack_pointer + kFrame;
    if (g_fault->kind == MemoryFault::Kind::far && on_stack)
      g_fault->kind = MemoryFault::Kind::stack;
  } else {
    raise(signal_number);  // nobody's access: somebody sent it
  }
}

/// Bytes of data that this process has, as RLIMIT_DATA counts them.
std::size_t data_bytes_now() {
  std::size_t pages[6] = {};
  std::ifstream file("/proc/self/statm");
  for (std::size_t& count : pages) file >> count;
  return pages[5] * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void become_child(int output, const CallLimits& limits, pid_t parent) {
  ProcessLimits of_all;
  if (limits.data_bytes > 0) of_all.memory_bytes = data_bytes_now() + limits.data_bytes;
  if (!become_limited_child(of_all, parent)) fail("its limits cannot be set");
  close(STDIN_FILENO);  // so that it is no matter whether it was open
  if (open("/dev/null", O_RDONLY) != STDIN_FILENO) fail("its input cannot be closed");
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
}

/// What the caller may know more of: the buffer that was missed, and by how much.
void note_buffer(const MemoryFault& fault, ProcessEnd& end) {
  const bool before = fault.kind == MemoryFault::Kind::before;
  if (!before && fault.kind != MemoryFault::Kind::past) return;
  end.buffer = fault.buffer;
  end.buffer_bytes = fault.buffer_bytes;
  end.bytes_past = static_cast<std::int64_t>(fault.distance) * (before ? -1 : 1);
}

/// The last line with something on it.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t begin = text.rfind('\n');
  constexpr std::size_t kMost = 203;
  return shortened(begin == text.npos ? text : text.substr(begin + 1), kMost);
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  const char* description = sigdescr_np(number);
  return name == nullptr ? "signal " + std::to_string(number)
                         : "SIG" + std::string(name) + " (" + description + ")";
}

}  // namespace

void ParentLine::send(const Message& message) {
  const std::string bytes = bytes_of(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t written = write(pipe_, bytes.data() + sent, bytes.size() - sent);
    if (written < 0 && errno != EINTR) {  // nobody listens any more, or the pipe was closed
      shared_->is_broken = true;
      _exit(1);
    }
    if (written > 0) sent += static_cast<std::size_t>(written);
  }
  shared_->last_sign = now();
}

void ParentLine::call_begins() { shared_->call_began = now(); }

void ParentLine::call_ends() {
  shared_->last_sign = now();
  shared_->call_began = 0;
}

void ParentLine::locate_faults_on(const HostDevice& device) {
  g_device = &device;
  g_fault = &shared_->fault;
  // A stack of its own: the kernel's may have run over.
  static std::vector<std::byte> stack(std::size_t{64} << 10);
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_refused_access;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

/// Memory that a child has, too.
ParentLine::Shared* ParentLine::share() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("cannot share memory with a process");
  return new (memory) Shared;
}

void ParentLine::unshare(Shared* shared) { munmap(shared, sizeof(Shared)); }

IsolatedProcess::IsolatedProcess(const CallLimits& limits,
                                 const std::function<void(ParentLine& line)>& work)
    : limits_(limits), shared_(ParentLine::share(), ParentLine::unshare) {
  shared_->last_sign = now();
  Pipe messages = make_pipe();
  Pipe output = make_pipe();
  messages_ = std::move(messages.read_end);
  output_ = std::move(output.read_end);
  fcntl(messages_.get(), F_SETFL, O_NONBLOCK);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  std::fflush(nullptr);  // or the child would print it, too
  const pid_t parent = getpid();
  child_ = fork_remembered();
  if (child_ < 0) fail("cannot start a process");
  if (child_ == 0) {
    ParentLine line(messages.write_end.get(), shared_.get());
    // Nothing that is thrown may go on into the caller's code, in a second copy of this program.
    try {
      become_child(output.write_end.get(), limits, parent);
      work(line);
      line.send({});  // the end of the work; every other message has a field
      _exit(0);
    } catch (const std::exception& error) {
      std::snprintf(shared_->error, sizeof shared_->error, "%s", error.what());
    } catch (...) {
      std::snprintf(shared_->error, sizeof shared_->error, "an exception of unknown type");
    }
    _exit(1);
  }
}

IsolatedProcess::~IsolatedProcess() {
  try {
    kill_and_reap();
  } catch (const std::exception&) {  // memory is short: nobody asks any more how it ended
  }
}

std::optional<Message> IsolatedProcess::receive(const MessageRule& rule) {
  while (!finished_ && !reaped_) {
    Front front = front_of(buffered_, rule);
    garbled_ = front.complaint;
    if (!garbled_.empty()) break;
    if (front.message) {
      buffered_.erase(0, front.bytes);
      finished_ = front.message->empty();
      if (!finished_) return std::move(front.message);
    } else if (!wait_for_bytes()) {
      break;
    }
  }
  kill_and_reap();
  return std::nullopt;
}

bool IsolatedProcess::wait_for_bytes() {
  constexpr int kMilliseconds = 50;
  bool ended = false;
  while (true) {
    pollfd descriptors[] = {{messages_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
    poll(descriptors, 2, kMilliseconds);
    if (descriptors[1].revents != 0) drain_output();
    char bytes[4096];
    const ssize_t count = read(messages_.get(), bytes, sizeof bytes);
    if (count > 0) {
      buffered_.append(bytes, static_cast<std::size_t>(count));
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) return false;
    if (ended) return false;
    // What it started may keep the pipe open when it has ended itself. What it sent before that is
    // still to be read.
    ended = has_ended(child_);
    if (ended) continue;
    if (is_too_late()) {
      hung_ = true;
      return false;
    }
  }
}

bool IsolatedProcess::is_too_late() const {
  const std::int64_t began = shared_->call_began;
  const std::int64_t since = began != 0 ? began : shared_->last_sign.load();
  const double limit = began != 0 ? limits_.seconds_per_call : kSecondsBetweenCalls;
  return static_cast<double>(now() - since) > limit * 1e9;
}

void IsolatedProcess::drain_output() {
  char bytes[65536];
  const ssize_t count = read(output_.get(), bytes, sizeof bytes);
  if (count == 0) output_.reset();  // poll() ignores what is closed
  if (count <= 0) return;
  printed_.append(bytes, static_cast<std::size_t>(count));
  if (printed_.size() > kRememberedOutput) printed_.erase(0, printed_.size() - kRememberedOutput);
}

void IsolatedProcess::kill_and_reap() {
  if (reaped_) return;
  // Give one that is ending on its own the time to: its status says why.
  const bool stopped = hung_ || finished_ || !garbled_.empty();
  bool ended = false;
  for (int i = 0; i < 200 && !stopped && !ended; ++i) {
    ended = has_ended(child_);
    if (!ended) usleep(1000);
  }
  left_line_ = left_line_ || (!stopped && !ended);
  const int status = end_child(child_);
  reaped_ = true;
  if (output_.get() >= 0) drain_output();
  if (!finished_) judge(status);
}

void IsolatedProcess::judge(int status) {
  ProcessEnd end;
  const bool in_call = shared_->call_began != 0;
  if (hung_) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", limits_.seconds_per_call);
    end.hung = true;
    end.text = in_call ? "did not return within " + std::string(seconds) + " s (--time-limit)"
                       : "returned, but its process then stood still";
  } else if (!garbled_.empty()) {
    end.text = kGarbled;
    end.text += garbled_;
  } else if (shared_->error[0] != '\0') {
    end.text = std::string("could not be tried: ") + shared_->error;
  } else if (left_line_ || shared_->is_broken) {
    end.text = "closed a file that is not its own, or replaced its process by another program";
  } else if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    end.text = (number == SIGKILL ? "was ended by " : "crashed with ") + signal_name(number) +
               (number == SIGKILL ? ", not by this tool: is memory short?" : "");
    const std::string where = to_string(shared_->fault);
    end.bad_access = number == SIGSEGV || number == SIGBUS;
    if (end.bad_access && !where.empty()) end.text += ": " + where;
    if (end.bad_access) note_buffer(shared_->fault, end);
    if (!in_call) end.text += ", after a call that returned: has it damaged memory?";
  } else if (!buffered_.empty()) {
    end.text = kGarbled;
    end.text += "part of a message";
  } else {
    end.text = "called exit(" + std::to_string(WEXITSTATUS(status)) + ")" +
               (in_call ? " instead of returning" : "");
  }
  end.last_printed = last_line(printed_);
  end_ = end;
}

}  // namespace paged
