// Runs planted kernels, on a GPU or on the CPU machine: planted_findings.py records what
// compute-sanitizer makes of them there and what the CPU machine finds here.
//
//   planted_findings --list            name, tab, kind of mistake ("clean, like KIND" for look-alikes)
//   planted_findings NAME...           on the GPU, each after a line "planted: NAME"; the first launch
//                                      or copy that fails ends it with exit status 1
//   planted_findings --cpu NAME...     on the CPU machine; findings, one a line: name, tab, finding
#include "tests/simt/planted_kernels.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>

namespace paged {
namespace {

std::string kind_of(const PlantedKernel& planted) {
  if (!planted.expected.empty()) return name_of(planted.expected.front().kind);
  return std::string("clean, like ") + name_of(planted.looks_like.value());
}

void list() {
  for (const PlantedKernel& planted : cuda::planted_kernels())
    std::printf("%s\t%s\n", planted.name.c_str(), kind_of(planted).c_str());
}

const PlantedKernel& find(const std::vector<PlantedKernel>& kernels, const std::string& name) {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const PlantedKernel& k) { return k.name == name; });
  if (found == kernels.end())
    throw std::runtime_error("there is no planted kernel '" + name + "'; --list names all");
  return *found;
}

using Names = std::span<const std::string>;

void run_on_cpu(Names names) {
  const std::vector<PlantedKernel> kernels = cpu_checked::planted_kernels();
  const std::unique_ptr<Device> device = make_cpu_device();
  for (const std::string& name : names) {
    find(kernels, name).run(*device);
    for (const Finding& finding : device->take_findings())
      std::printf("%s\t%s\n", name.c_str(), to_string(finding).c_str());
  }
}

void run_on_gpu(Names names) {
  const std::vector<PlantedKernel> kernels = cuda::planted_kernels();
  if (const std::string reason = why_no_cuda_device(); !reason.empty())
    throw std::runtime_error("no GPU: " + reason);
  cuda::set_stack_limit(std::size_t{64} * 1024);
  const std::unique_ptr<Device> device = make_cuda_device();
  for (const std::string& name : names) {
    std::printf("planted: %s\n", name.c_str());
    std::fflush(stdout);
    find(kernels, name).run(*device);
    device->finish();
  }
}

int run(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--list"}) {
    list();
  } else if (arguments.size() >= 2 && arguments[0] == "--cpu") {
    run_on_cpu(Names(arguments).subspan(1));
  } else if (!arguments.empty() && arguments[0].rfind("--", 0) != 0) {
    run_on_gpu(arguments);
  } else {
    std::fprintf(stderr, "usage: planted_findings --list | [--cpu] NAME...\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  try {
    return paged::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "planted_findings: %s\n", error.what());
    return 1;
  }
}
