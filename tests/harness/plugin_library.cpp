#include "tests/harness/plugin_library.h"

#include "reference/input_error.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <exception>

namespace paged {
namespace {

constexpr std::size_t kLongestText = 1000;

template <typename Function>
Function function_named(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string copied(const char* text) {
  return text == nullptr ? "" : std::string(text, strnlen(text, kLongestText));
}

/// What runs, and where. A stage runs through plain function pointers, and a process for a kernel
/// runs no other: one is enough.
struct Running {
  PluginLibrary library;
  Device* device = nullptr;
  ParentLine* line = nullptr;
  std::size_t most_workspace_bytes = 0;  ///< 0: no limit
};
Running g_running;

/// Tells the parent that a call is on its way.
class Call {
 public:
  Call() { g_running.line->call_begins(); }
  ~Call() { g_running.line->call_ends(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// Calls a function of the library, from which no exception may come.
template <typename Function>
auto call(const char* name, Function function) {
  try {
    return function();
  } catch (const std::exception& error) {
    throw DeviceError(std::string(name) + " threw a C++ exception: " + error.what());
  } catch (...) {
    throw DeviceError(std::string(name) + " threw a C++ exception");
  }
}

std::string error_text(std::int32_t error) {
  if (g_running.library.error_text == nullptr) return "";
  const std::string text =
      copied(call("paged_kernel_error_text", [&] { return g_running.library.error_text(error); }));
  return text.empty() ? "" : ": " + text;
}

void run(const paged_decode_args& args) {
  const Call scope;
  const std::int32_t error = call("paged_kernel_run", [&] { return g_running.library.run(&args); });
  if (error != 0)
    throw DeviceError("paged_kernel_run returned error " + std::to_string(error) +
                      error_text(error));
  // A launch returns before it is done, and the time limit is for all of it.
  if (g_running.device->backend() == Backend::cuda) g_running.device->finish();
}

paged_decode_args sizes_of(const DecodeShape& shape) {
  paged_decode_args args{};
  args.version = PAGED_DECODE_VERSION;
  args.scalar = static_cast<std::int32_t>(same_as(shape.scalar));
  args.cache = static_cast<std::int32_t>(shape.cache);
  args.num_seqs = shape.num_seqs;
  args.num_heads = shape.num_heads;
  args.num_kv_heads = shape.num_kv_heads;
  args.head_size = shape.head_size;
  args.block_size = shape.block_size;
  args.num_blocks = shape.num_blocks;
  args.max_num_blocks_per_seq = shape.max_num_blocks_per_seq;
  args.max_seq_len = shape.max_seq_len;
  args.logits_stride = shape.max_seq_len;
  args.partition_size = shape.partition_size;
  args.variant = static_cast<std::int32_t>(shape.variant);
  return args;
}

LaunchPlan plan(const DecodeShape& shape) {
  LaunchPlan plan;
  if (g_running.library.workspace == nullptr) return plan;
  const paged_decode_args args = sizes_of(shape);
  const Call scope;
  const std::int64_t bytes =
      call("paged_kernel_workspace", [&] { return g_running.library.workspace(&args); });
  if (bytes < 0)
    throw DeviceError("paged_kernel_workspace returned " + std::to_string(bytes) + " bytes");
  const std::size_t most = g_running.most_workspace_bytes;
  if (most > 0 && static_cast<std::size_t>(bytes) > most)
    throw DeviceError("paged_kernel_workspace asked for " + std::to_string(bytes) +
                      " bytes; at most " + std::to_string(most) +
                      " are given (--memory-limit). Are its sizes multiplied in the right units?");
  plan.workspace_bytes = static_cast<std::size_t>(bytes);
  return plan;
}

}  // namespace

PluginLibrary open_library(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::string why = copied(dlerror());
    if (why.starts_with(file + ": ")) why = why.substr(file.size() + 2);
    if (why.find("ELF header") != why.npos || why.find("file too short") != why.npos)
      why += "; a shared library is made with gcc -shared -fPIC -O2 -I. KERNEL.c -o KERNEL.so";
    throw InputError("it cannot be loaded: " + why);
  }
  PluginLibrary library;
  library.describe = function_named<decltype(library.describe)>(handle, "paged_kernel_describe");
  library.run = function_named<decltype(library.run)>(handle, "paged_kernel_run");
  library.workspace = function_named<decltype(library.workspace)>(handle, "paged_kernel_workspace");
  library.error_text =
      function_named<decltype(library.error_text)>(handle, "paged_kernel_error_text");
  for (const auto& [name, is_there] :
       {std::pair{"paged_kernel_describe", library.describe != nullptr},
        std::pair{"paged_kernel_run", library.run != nullptr}})
    if (!is_there)
      throw InputError(
          std::string("it exports no function ") + name +
          "; kernels/paged_decode.h says what a kernel's library exports (in C++, with "
          "extern \"C\")");
  return library;
}

paged_kernel_description describe(const PluginLibrary& library, DescriptionTexts& texts) {
  const paged_kernel_description* description = library.describe();
  if (description == nullptr) throw InputError("its paged_kernel_describe returned NULL");
  if (description->version != PAGED_DECODE_VERSION)
    throw InputError("it was compiled with version " + std::to_string(description->version) +
                     " of kernels/paged_decode.h, and this build knows version " +
                     std::to_string(PAGED_DECODE_VERSION) +
                     "; compile it again, or set "
                     "paged_kernel_description.version");
  texts = {copied(description->name), copied(description->promises), copied(description->breaks),
           description->promises != nullptr};
  if (texts.name.empty()) throw InputError("its description has no name");
  return *description;
}

Stage runnable(Stage stage, const PluginLibrary& library, Device& device, ParentLine& line,
               std::size_t most_workspace_bytes) {
  g_running = {library, &device, &line, most_workspace_bytes};
  stage.plan = plan;
  stage.run = run;
  return stage;
}

}  // namespace paged
