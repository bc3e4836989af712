#include "kernels/simt/source_lines.h"

#include "kernels/simt/addr2line.h"
#include "kernels/simt/program_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

namespace paged::simt {

namespace {

// A file that addr2line can read, and what to subtract from addresses to get those of the file.
struct Module {
  std::string path;
  std::uintptr_t bias = 0;
};

// Its own name may be relative to anything.
std::string path_of_program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "/proc/self/exe";
}

Module module_of(std::uintptr_t address) {
  const ProgramImage& program = program_image();
  if (address - program.begin < program.size) return {path_of_program(), program.bias};
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return {};
  Module module{info.dli_fname, reinterpret_cast<std::uintptr_t>(info.dli_fbase)};
  Elf64_Ehdr header;
  std::memcpy(&header, info.dli_fbase, sizeof header);
  if (header.e_type == ET_EXEC) module.bias = 0;  // linked to where it is loaded
  return module;
}

// Starts the process when it is first asked about a file, and anew where it was ended: by one who
// ends all that this process has started, say. Called by one thread at a time
// (look_up_call_chains()).
std::vector<std::string> read_lines(const std::string& file,
                                    const std::vector<std::uintptr_t>& addresses) {
  // Where this process is left by _exit(), they end by themselves; else they are waited for.
  static std::map<std::string, std::unique_ptr<Addr2line>> processes;
  std::unique_ptr<Addr2line>& process = processes[file];
  std::vector<std::string> lines;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!process || !process->runs()) process = std::make_unique<Addr2line>(file);
    lines = process->ask(addresses);
    if (process->runs()) break;
  }
  return lines;
}

LineReader line_reader = &read_lines;

bool starts_with(const std::string& text, const std::string& beginning) {
  return text.rfind(beginning, 0) == 0;
}

// What stands before this file's path within the source tree.
std::string source_tree() {
  const std::string file = __FILE__;
  return file.substr(0, file.rfind("kernels/simt/"));
}

// "/path/file.cu:12 (discriminator 3)" -> "file.cu:12"; "" for unknown lines ("??:0", "file:?").
std::string short_form(const std::string& line) {
  std::string text = base_name(line.substr(0, line.find(' ')));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text[0] == '?' || text[colon + 1] == '?' ||
      text.substr(colon) == ":0")
    return "";
  return text;
}

// The lines of the inlined functions at an address, from the inside out, as addr2line has them.
using CallChains = std::map<std::uintptr_t, std::vector<std::string>>;

// addr2line -a prints each address, then the inlined functions' lines from the inside out.
void look_up(const Module& module, const std::vector<std::uintptr_t>& addresses,
             CallChains& chains) {
  // One less than the return address lies within the call.
  std::vector<std::uintptr_t> of_calls;
  for (std::uintptr_t address : addresses) of_calls.push_back(address - 1 - module.bias);
  std::size_t next = 0;
  std::vector<std::string>* chain = nullptr;
  for (const std::string& output : line_reader(module.path, of_calls)) {
    if (output.rfind("0x", 0) == 0 && next < addresses.size())
      chain = &chains[addresses[next++]];
    else if (chain != nullptr)
      chain->push_back(output);
  }
}

// Answers are remembered.
CallChains look_up_call_chains(const std::vector<std::uintptr_t>& return_addresses) {
  static std::mutex mutex;
  static CallChains known;
  const std::lock_guard lock(mutex);

  std::map<std::string, std::pair<Module, std::vector<std::uintptr_t>>> unknown;
  for (std::uintptr_t address : return_addresses) {
    if (!known.emplace(address, std::vector<std::string>()).second) continue;
    const Module module = module_of(address);
    auto& of_module = unknown[module.path];
    of_module.first = module;
    of_module.second.push_back(address);
  }
  for (const auto& [path, of_module] : unknown)
    if (!path.empty()) look_up(of_module.first, of_module.second, known);

  CallChains asked_for;
  for (std::uintptr_t address : return_addresses) asked_for[address] = known.at(address);
  return asked_for;
}

// The best line of each chain, the innermost one of equals.
template <typename Rank>
SourceLines best_lines(const std::vector<std::uintptr_t>& return_addresses, Rank rank) {
  SourceLines lines;
  for (const auto& [address, chain] : look_up_call_chains(return_addresses)) {
    const auto best = std::max_element(
        chain.begin(), chain.end(),
        [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    lines[address] = best == chain.end() ? "" : short_form(*best);
  }
  return lines;
}

}  // namespace

void set_line_reader(LineReader reader) { line_reader = reader; }

int rank_of_line(const std::string& line, const std::string& source_tree) {
  if (starts_with(line, source_tree + "kernels/simt/")) return 0;
  if (starts_with(line, source_tree + "kernels/")) return 1;
  if (starts_with(line, source_tree)) return 2;
  const bool of_system = starts_with(line, "/usr/include/") || starts_with(line, "/usr/lib") ||
                         line.find("/include/c++/") != std::string::npos ||
                         line.find("/lib/gcc/") != std::string::npos;
  return of_system ? 0 : 2;
}

SourceLines look_up_source_lines(const std::vector<std::uintptr_t>& return_addresses) {
  static const std::string tree = source_tree();
  return best_lines(return_addresses,
                    [](const std::string& line) { return rank_of_line(line, tree); });
}

SourceLines look_up_lines_of_accesses(const std::vector<std::uintptr_t>& return_addresses) {
  static const std::string tree = source_tree();
  return best_lines(return_addresses, [](const std::string& line) {
    return starts_with(line, tree + "kernels/vector_load.cuh") ? 0 : rank_of_line(line, tree) > 0;
  });
}

}  // namespace paged::simt
