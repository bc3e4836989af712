#include "kernels/simt/program_symbols.h"

#include "kernels/kernel_name.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace paged::simt {

namespace {

// The program is the first entry of the dynamic linker's list.
template <typename F>
void with_program_headers(F f) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        (*static_cast<F*>(data))(*info);
        return 1;
      },
      &f);
}

std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  with_program_headers([&](const dl_phdr_info& info) { bias = info.dlpi_addr; });
  return bias;
}

// The functions of the program file's symbol table.
class FunctionTable {
 public:
  FunctionTable() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() < sizeof(Elf64_Ehdr)) return;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    if (header.e_shoff + sections.size() * sizeof(Elf64_Shdr) > bytes.size()) return;
    std::memcpy(sections.data(), &bytes[header.e_shoff], sections.size() * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& section : sections)
      if (section.sh_type == SHT_SYMTAB)
        read(&bytes[section.sh_offset], section.sh_size / sizeof(Elf64_Sym),
             &bytes[sections[section.sh_link].sh_offset]);
    std::sort(functions_.begin(), functions_.end(),
              [](const Function& a, const Function& b) { return a.begin < b.begin; });
  }

  // The mangled name, or "".
  std::string name_at(std::uintptr_t address) const {
    const auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uintptr_t value, const Function& function) { return value < function.begin; });
    if (after == functions_.begin()) return "";
    const Function& function = *std::prev(after);
    return address - function.begin < std::max<std::size_t>(function.size, 1) ? function.name : "";
  }

 private:
  struct Function {
    std::uintptr_t begin;
    std::size_t size;
    std::string name;
  };

  void read(const char* symbols, std::size_t count, const char* names) {
    const std::uintptr_t bias = load_bias();
    for (std::size_t i = 0; i < count; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0)
        functions_.push_back({bias + symbol.st_value, symbol.st_size, names + symbol.st_name});
    }
  }

  std::vector<Function> functions_;
};

}  // namespace

const ProgramImage& program_image() {
  static const ProgramImage image = [] {
    ProgramImage found;
    with_program_headers([&](const dl_phdr_info& info) {
      std::uintptr_t begin = ~std::uintptr_t{0};
      std::uintptr_t end = 0;
      for (int i = 0; i < info.dlpi_phnum; ++i) {
        const auto& segment = info.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        begin = std::min<std::uintptr_t>(begin, info.dlpi_addr + segment.p_vaddr);
        end = std::max<std::uintptr_t>(end, info.dlpi_addr + segment.p_vaddr + segment.p_memsz);
      }
      found = {begin, end - begin};
    });
    return found;
  }();
  return image;
}

ThreadLocalImage thread_local_image() {
  ThreadLocalImage image;
  with_program_headers([&](const dl_phdr_info& info) {
    image.begin = reinterpret_cast<std::uintptr_t>(info.dlpi_tls_data);
    for (int i = 0; i < info.dlpi_phnum; ++i)
      if (info.dlpi_phdr[i].p_type == PT_TLS) image.size = info.dlpi_phdr[i].p_memsz;
  });
  return image;
}

std::string kernel_name(const void* kernel) {
  static const FunctionTable functions;
  const std::string name = functions.name_at(reinterpret_cast<std::uintptr_t>(kernel));
  return name.empty() ? "kernel" : bare_kernel_name(name);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace paged::simt
