// The process on the CPU machine, shut off from the system.
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/source_lines.h"
#include "kernels/simt/worker_pool.h"
#include "walkthroughs/labs/channel.h"
#include "walkthroughs/labs/kernel_process.h"
#include "walkthroughs/labs/line_request.h"
#include "walkthroughs/labs/system_call_filter.h"

#include <algorithm>
#include <csignal>

namespace paged::labs {

PreparedDevice prepare_device() {
  // Enough for small kernels, and two can be held to a limit on memory: each thread has many stacks.
  simt::set_worker_count(std::min(simt::worker_count(), 2));
  std::signal(SIGXFSZ, SIG_IGN);  // printing too much fails, and ends nothing
  PreparedDevice prepared;
  prepared.device = make_cpu_device();
  // The program's own file, read while files can be.
  simt::kernel_name(reinterpret_cast<const void*>(&prepare_device));
  simt::program_image();
  simt::set_line_reader(&ask_for_lines);
  prepared.filtered = enter_system_call_filter();
  return prepared;
}

}  // namespace paged::labs
