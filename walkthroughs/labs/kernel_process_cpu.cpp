// The process on the CPU machine. It is shut off from the system from its first instruction on
// (limited_process.h): whatever of the submission runs before main() is, too.
#include "kernels/simt/device_memory.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/source_lines.h"
#include "kernels/simt/worker_pool.h"
#include "walkthroughs/labs/channel.h"
#include "walkthroughs/labs/kernel_process.h"
#include "walkthroughs/labs/line_request.h"

#include <csignal>

namespace paged::labs {

std::unique_ptr<Device> prepare_device() {
  // Enough for small kernels, and two can be held to a limit on memory: each thread has many
  // stacks.
  simt::set_worker_count(2);
  std::signal(SIGXFSZ, SIG_IGN);  // printing too much fails, and ends nothing
  simt::set_program_file(kProgramFile);
  simt::set_line_reader(&ask_for_lines);
  simt::device_memory().close_to_host();
  return make_cpu_device();
}

}  // namespace paged::labs
