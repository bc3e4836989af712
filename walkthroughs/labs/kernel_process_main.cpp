// The process that runs a submission's kernel. Linked with one by `lab.sh check` and `lab.sh
// grade`.
#include "reference/input_error.h"
#include "walkthroughs/labs/channel.h"
#include "walkthroughs/labs/device_messages.h"
#include "walkthroughs/labs/kernel_process.h"
#include "walkthroughs/labs/line_request.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

namespace paged::labs {
namespace {

Channel* line_channel = nullptr;

/// More than is shown of what a kernel prints (lab.h).
constexpr int kShownAtOnceKiB = 16;

void put_limits(Channel& channel, const Device& device) {
  const DeviceLimits& limits = device.limits();
  channel.put_text(limits.name);
  channel.put(static_cast<std::uint64_t>(limits.shared_bytes_per_block));
}

void write_out(const char* text, std::size_t count) {
  [[maybe_unused]] const ssize_t sent = write(STDOUT_FILENO, text, count);
}

/// Writes what is printed: the beginning of each run's, which may be shown, at once, as this process
/// may be ended from outside at any time. The rest in large pieces, so that printing much is not slow;
/// it is there to be counted against the limit.
class PrintedText {
 public:
  void add(const char* text, std::size_t count) {
    const bool is_shown = written_ < std::size_t{kShownAtOnceKiB} * 1024;
    if (!is_shown && held_ + count <= sizeof waiting_) {
      std::memcpy(waiting_ + held_, text, count);
      held_ += count;
      return;
    }
    flush();
    write_out(text, count);
    written_ += count;
  }
  void end_run() {
    flush();
    written_ = 0;
  }

 private:
  void flush() {
    write_out(waiting_, held_);
    written_ += held_;
    held_ = 0;
  }

  char waiting_[64 * 1024];
  std::size_t held_ = 0;
  std::size_t written_ = 0;  ///< of this run
};

PrintedText& printed_text() {
  static PrintedText text;
  return text;
}

ssize_t write_printed(void*, const char* text, std::size_t count) {
  printed_text().add(text, count);
  return static_cast<ssize_t>(count);
}

double seconds_of_run(Device& device, const paged_decode_args& args, unsigned times) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < times; ++i) lab::run_kernel(args);
  device.finish();
  printed_text().end_run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
}

/// An address and a number of bytes.
struct Range {
  void* address;
  std::uint64_t bytes;
};

Range get_range(Channel& channel) {
  const auto address = channel.get<std::uint64_t>();
  return {reinterpret_cast<void*>(address), channel.get<std::uint64_t>()};
}

/// Does one thing. What it has to say is put into the channel when nothing can fail any more.
void serve(Request request, Channel& channel, Device& device) {
  std::vector<char> data;
  std::function<void()> put_result = [] {};
  switch (request) {
    case Request::limits:
      put_result = [&] { put_limits(channel, device); };
      break;
    case Request::allocate: {
      const auto bytes = channel.get<std::uint64_t>();
      void* const memory = device.allocate(bytes, channel.get_text());
      put_result = [&channel, memory] { channel.put(reinterpret_cast<std::uint64_t>(memory)); };
      break;
    }
    case Request::release:
      device.release(reinterpret_cast<void*>(channel.get<std::uint64_t>()));
      break;
    case Request::upload: {
      const Range range = get_range(channel);
      data.resize(range.bytes);
      channel.get_bytes(data.data(), data.size());
      device.upload(range.address, data.data(), data.size());
      break;
    }
    case Request::download: {
      const Range range = get_range(channel);
      data.resize(range.bytes);
      device.download(data.data(), range.address, data.size());
      put_result = [&] { channel.put_bytes(data.data(), data.size()); };
      break;
    }
    case Request::forget: {
      const Range range = get_range(channel);
      device.forget(range.address, range.bytes);
      break;
    }
    case Request::finish:
      device.finish();
      break;
    case Request::take_findings:
      put_result = [&channel, findings = device.take_findings()] {
        put_findings(channel, findings);
      };
      break;
    case Request::switch_counting:
      device.switch_counting(channel.get<std::uint8_t>() != 0);
      break;
    case Request::take_counts:
      put_result = [&channel, counts = device.take_counts()] { put_counts(channel, counts); };
      break;
    case Request::run: {
      const auto args = channel.get<paged_decode_args>();
      const double seconds = seconds_of_run(device, args, channel.get<std::uint32_t>());
      put_result = [&channel, seconds] { channel.put(seconds); };
      break;
    }
  }
  channel.put(Answer::done);
  put_result();
}

void put_error(Channel& channel, Answer answer, const std::string& message) {
  channel.put(answer);
  channel.put_text(message);
}

/// Until the harness closes the channel.
void serve_all() {
  Channel channel(kRequests, kAnswers);
  set_line_channel(channel);
  const std::unique_ptr<Device> device = prepare_device();
  for (;;) {
    const auto request = channel.get<Request>();
    try {
      serve(request, channel, *device);
    } catch (const DeviceError& error) {
      put_error(channel, Answer::device_error, error.what());
    } catch (const InputError& error) {
      put_error(channel, Answer::input_error, error.what());
    }
    channel.flush();
  }
}

void print_at_once() {
  cookie_io_functions_t functions{};
  functions.write = write_printed;
  FILE* const stream = fopencookie(nullptr, "w", functions);
  if (stream == nullptr) return;
  std::setvbuf(stream, nullptr, _IONBF, 0);
  stdout = stream;
}

}  // namespace

void set_line_channel(Channel& channel) { line_channel = &channel; }

std::vector<std::string> ask_for_lines(const std::string&,
                                       const std::vector<std::uintptr_t>& addresses) {
  Channel& channel = *line_channel;
  channel.put(Answer::lines_wanted);
  channel.put(static_cast<std::uint64_t>(addresses.size()));
  for (const std::uintptr_t address : addresses) channel.put(static_cast<std::uint64_t>(address));
  channel.flush();
  std::vector<std::string> lines(channel.get_count());
  for (std::string& line : lines) line = channel.get_text();
  return lines;
}

}  // namespace paged::labs

int main() {
  paged::labs::print_at_once();
  try {
    paged::labs::serve_all();
  } catch (const paged::labs::ChannelError&) {
    return 0;  // the harness has what it wanted
  }
}
