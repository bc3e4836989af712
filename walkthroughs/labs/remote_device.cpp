#include "walkthroughs/labs/remote_device.h"

#include "reference/input_error.h"
#include "walkthroughs/labs/device_messages.h"
#include "walkthroughs/labs/kernel_process.h"
#include "walkthroughs/labs/lab.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>

namespace paged::labs {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

constexpr int kMostLineRequests = 16;

RemoteDevice* current = nullptr;

void run_on_current(const paged_decode_args& args) { current->run(args, 1); }

/// What addr2line prints, in a process with limits: the file has a submission's code in it. Nothing
/// if it fails.
std::optional<std::vector<std::string>> lines_of_program(
    const std::filesystem::path& program, const std::vector<std::uint64_t>& addresses) {
  std::vector<std::string> command = {"addr2line", "-a", "-i", "-e", program.string()};
  for (const std::uint64_t address : addresses) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    command.emplace_back(text);
  }
  const ProgramLimits limits{{.cpu_seconds = 10, .memory_bytes = std::size_t{1} << 30}};
  std::vector<std::string> lines;
  std::istringstream output;
  try {
    const ProcessOutcome outcome = run_limited(command, limits, 10);
    if (!outcome.succeeded()) return std::nullopt;
    output.str(outcome.output);
  } catch (const std::runtime_error&) {
    return std::nullopt;  // there is no addr2line
  }
  for (std::string line; std::getline(output, line);) lines.push_back(line.substr(0, 4096));
  return lines;
}

/// Whether a process ended by what its own instructions did, and would again. Memory that is not
/// there makes an abort, and a limit or a person makes the others.
bool is_by_its_own_fault(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGSEGV || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
         signal == SIGSYS;
}

}  // namespace

RemoteDevice::RemoteDevice(Backend backend, const std::filesystem::path& program,
                           const std::filesystem::path& printed, const RemoteLimits& limits)
    : backend_(backend),
      program_(program),
      printed_(printed),
      limits_(limits),
      end_(Clock::now() + seconds(limits.seconds)) {
  signal(SIGPIPE, SIG_IGN);  // a write to a process that is gone fails
  Pipe requests = make_pipe();
  Pipe answers = make_pipe();
  const Descriptor output = open_file(printed, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  const Descriptor own_file = open_file(program, O_RDONLY);
  if (fcntl(requests.write_end.get(), F_SETFL, O_NONBLOCK) != 0)
    throw std::runtime_error("a pipe cannot be made to return at once");
  process_ = start_process({program.string()}, limits.process,
                           {{requests.read_end.get(), kRequests},
                            {answers.write_end.get(), kAnswers},
                            {own_file.get(), kProgramFile},
                            {output.get(), 1},
                            {output.get(), 2}});
  requests.read_end.reset();  // that it ends is seen by its ends being closed
  answers.write_end.reset();
  requests_ = std::move(requests.write_end);
  answers_ = std::move(answers.read_end);
  channel_ = std::make_unique<Channel>(answers_.get(), requests_.get());
  // A constructor that throws has no destructor.
  try {
    ask_for_limits();
  } catch (...) {
    if (process_ > 0) end_child(process_);
    throw;
  }
}

void RemoteDevice::ask_for_limits() {
  ask(
      Request::limits, [](Channel&) {},
      [&](Channel& channel) {
        device_limits_.name = channel.get_text();
        device_limits_.shared_bytes_per_block = channel.get<std::uint64_t>();
      });
}

RemoteDevice::~RemoteDevice() {
  if (current == this) current = nullptr;
  requests_.reset();
  answers_.reset();
  if (process_ > 0) end_child(process_);
}

std::string RemoteDevice::how_it_ended(int status) const {
  if (WIFEXITED(status))
    return "ended itself (exit status " + std::to_string(WEXITSTATUS(status)) +
           ") before it had handed over its results";
  switch (const int signal = WTERMSIG(status); signal) {
    case SIGSYS:
      return "asked the system for what no kernel needs (a process, the network, a signal ...) and "
             "was stopped";
    case SIGXCPU:
    case SIGKILL:
      return "used up its " + std::to_string(limits_.process.cpu_seconds) +
             " s of processor time, or memory, and was stopped";
    case SIGABRT:
      return "was aborted: out of its " + std::to_string(limits_.process.memory_bytes >> 20) +
             " MiB of memory, or an exception left the kernel (a kernel cannot throw on a GPU)";
    case SIGFPE:
      return "crashed: a division of whole numbers by zero";
    case SIGSEGV:
    case SIGBUS:
      return "crashed: an access to memory that is not there, outside of a kernel's threads";
    case SIGILL:
    case SIGTRAP:
      return "crashed: an index outside of its array, outside of a kernel's threads";
    default:
      return "crashed: signal " + std::to_string(signal);
  }
}

std::string RemoteDevice::what_happened(const ChannelError& error) {
  const bool hangs = error.kind == ChannelError::Kind::late;
  std::optional<int> status;
  if (error.kind == ChannelError::Kind::closed) status = wait_for_end(process_, 1);  // it is ending
  if (!status) end_child(process_);
  process_ = -1;
  by_chance_ = by_chance_ || !status || !is_by_its_own_fault(*status);
  char text[160];
  if (hangs && running_kernel_) {
    // Printing is slow, on a GPU too, and so much of it is likely to be what took the time.
    const bool floods = printed_bytes() >= (std::uint64_t{kPrintedMiB} << 20) / 2;
    std::snprintf(text, sizeof text, "a run of the kernel did not come to an end within %g s: %s",
                  limits_.seconds_per_run,
                  floods ? "it prints without end, or far too much; print from one thread, and few "
                           "lines"
                         : "an endless loop, or much too slow?");
    return text;
  }
  if (hangs) {
    std::snprintf(text, sizeof text, "the checks did not come to an end within %g s",
                  limits_.seconds);
    return text;
  }
  if (error.kind == ChannelError::Kind::garbled)
    return "the kernel's process answered what cannot be: it was overwritten";
  return "the kernel's process " +
         (status ? how_it_ended(*status) : "would hear no more and went on, and was stopped");
}

std::uint64_t RemoteDevice::printed_bytes() const {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(printed_, error);
  return error ? 0 : bytes;
}

template <typename Get>
void RemoteDevice::await(Get get) {
  for (;;) {
    switch (channel_->get<Answer>()) {
      case Answer::done:
        return get(*channel_);
      case Answer::device_error:
        throw DeviceError(channel_->get_text());
      case Answer::input_error:
        throw InputError(channel_->get_text());
      case Answer::lines_wanted:
        answer_line_request();
        break;
      default:
        throw ChannelError(ChannelError::Kind::garbled, "no such answer");
    }
  }
}

template <typename Put, typename Get>
void RemoteDevice::ask(Request request, Put put, Get get) {
  if (process_ < 0)
    throw SubmissionEnded("the kernel's process has ended", SubmissionEnded::How::crash);
  running_kernel_ = request == Request::run;
  line_requests_ = 0;
  const auto of_run = Clock::now() + seconds(limits_.seconds_per_run);
  channel_->set_deadline(running_kernel_ ? std::min(of_run, end_) : end_);
  try {
    channel_->put(request);
    put(*channel_);
    channel_->flush();
    await(get);
  } catch (const ChannelError& error) {
    throw SubmissionEnded(what_happened(error), error.kind == ChannelError::Kind::late
                                                    ? SubmissionEnded::How::endless
                                                    : SubmissionEnded::How::crash);
  }
}

void RemoteDevice::answer_line_request() {
  // Findings and counts are looked up once each; each costs us a process.
  if (++line_requests_ > kMostLineRequests)
    throw ChannelError(ChannelError::Kind::garbled, "too many questions about lines");
  std::vector<std::uint64_t> addresses(channel_->get_count());
  for (std::uint64_t& address : addresses) address = channel_->get<std::uint64_t>();
  const auto found = lines_of_program(program_, addresses);
  by_chance_ = by_chance_ || !found;
  const std::vector<std::string> lines = found.value_or(std::vector<std::string>{});
  channel_->put(static_cast<std::uint64_t>(lines.size()));
  for (const std::string& line : lines) channel_->put_text(line);
  channel_->flush();
}

namespace {
std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }
constexpr auto kNothing = [](Channel&) {};
}  // namespace

void* RemoteDevice::allocate(std::size_t bytes, const std::string& name) {
  void* memory = nullptr;
  ask(
      Request::allocate,
      [&](Channel& channel) {
        channel.put(static_cast<std::uint64_t>(bytes));
        channel.put_text(name);
      },
      [&](Channel& channel) { memory = reinterpret_cast<void*>(channel.get<std::uint64_t>()); });
  return memory;
}

void RemoteDevice::release(void* memory) {
  if (process_ < 0) return;  // with the process its memory is gone
  try {
    ask(
        Request::release, [&](Channel& channel) { channel.put(number_of(memory)); }, kNothing);
  } catch (const SubmissionEnded&) {
    // Called by destructors. Whoever asks for more will be told.
  }
}

void RemoteDevice::upload(void* device, const void* host, std::size_t bytes) {
  ask(
      Request::upload,
      [&](Channel& channel) {
        channel.put(number_of(device));
        channel.put(static_cast<std::uint64_t>(bytes));
        channel.put_bytes(host, bytes);
      },
      kNothing);
}

void RemoteDevice::download(void* host, const void* device, std::size_t bytes) {
  ask(
      Request::download,
      [&](Channel& channel) {
        channel.put(number_of(device));
        channel.put(static_cast<std::uint64_t>(bytes));
      },
      [&](Channel& channel) { channel.get_bytes(host, bytes); });
}

void RemoteDevice::forget(void* device, std::size_t bytes) {
  ask(
      Request::forget,
      [&](Channel& channel) {
        channel.put(number_of(device));
        channel.put(static_cast<std::uint64_t>(bytes));
      },
      kNothing);
}

void RemoteDevice::finish() { ask(Request::finish, kNothing, kNothing); }

std::vector<Finding> RemoteDevice::take_findings() {
  std::vector<Finding> findings;
  ask(Request::take_findings, kNothing,
      [&](Channel& channel) { findings = get_findings(channel); });
  return findings;
}

void RemoteDevice::switch_counting(bool on) {
  const auto switch_it = [&] {
    ask(
        Request::switch_counting,
        [&](Channel& channel) { channel.put(static_cast<std::uint8_t>(on)); }, kNothing);
  };
  if (on) return switch_it();
  try {
    switch_it();
  } catch (const SubmissionEnded&) {
    // Called by the end of a scope, as release() is.
  }
}

LaunchCounts RemoteDevice::take_counts() {
  LaunchCounts counts;
  ask(Request::take_counts, kNothing, [&](Channel& channel) { counts = get_counts(channel); });
  return counts;
}

double RemoteDevice::run(const paged_decode_args& args, unsigned times) {
  double seconds_of_run = 0;
  ask(
      Request::run,
      [&](Channel& channel) {
        channel.put(args);
        channel.put(static_cast<std::uint32_t>(times));
      },
      [&](Channel& channel) { seconds_of_run = channel.get<double>(); });
  return seconds_of_run;
}

Stage remote_stage(const Stage& stage, RemoteDevice& device, InstanceList instances) {
  current = &device;
  Stage remote = stage;
  remote.supports.instances = instances;
  remote.run = &run_on_current;
  return remote;
}

}  // namespace paged::labs
