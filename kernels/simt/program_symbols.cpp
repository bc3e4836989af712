#include "kernels/simt/program_symbols.h"

#include "kernels/kernel_name.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
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

int program_descriptor = -1;

// The program's file in memory: of its tens of megabytes, most of them for debuggers, only those
// pages are read that somebody looks at. Asks the system for nothing that a process behind a
// system-call filter may not.
class ProgramFile {
 public:
  ProgramFile() : descriptor_(program_descriptor) {
    if (descriptor_ < 0) descriptor_ = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0 || !map(sizeof header_)) return;
    std::memcpy(&header_, data_, sizeof header_);
    unmap();
    // As far as the table of sections: a linker writes that last. Others, such as patchelf, do not.
    const std::size_t end = header_.e_shoff + header_.e_shnum * sizeof(Elf64_Shdr);
    if (header_.e_shnum == 0 || !map(end)) return;
    std::size_t all = end;
    for (const Elf64_Shdr& section : sections())
      if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_STRTAB)
        all = std::max<std::size_t>(all, section.sh_offset + section.sh_size);
    if (all == end) return;
    unmap();
    map(all);
  }
  ~ProgramFile() {
    unmap();
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ProgramFile(const ProgramFile&) = delete;
  ProgramFile& operator=(const ProgramFile&) = delete;

  // Null for what is not in the file.
  const char* at(std::size_t offset, std::size_t bytes) const {
    return offset + bytes <= size_ ? static_cast<const char*>(data_) + offset : nullptr;
  }

  std::vector<Elf64_Shdr> sections() const {
    std::vector<Elf64_Shdr> all(size_ == 0 ? 0 : header_.e_shnum);
    if (!all.empty())
      std::memcpy(all.data(), at(header_.e_shoff, 0), all.size() * sizeof(Elf64_Shdr));
    return all;
  }

 private:
  bool map(std::size_t bytes) {
    void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (data == MAP_FAILED) return false;
    data_ = data;
    size_ = bytes;
    return true;
  }
  void unmap() {
    if (size_ > 0) ::munmap(data_, size_);
    size_ = 0;
  }

  int descriptor_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Elf64_Ehdr header_ = {};
};

// Functions and thread-local variables of the program file's symbol table.
class SymbolTable {
 public:
  struct Symbol {
    std::uintptr_t begin;  // of a thread-local variable: its offset
    std::size_t size;
    std::string name;  // mangled
    // Which of the files that the program was linked from; 0 for names that all files share. Names
    // that are a file's own may occur in several.
    int file;
    int function = 0;  // of a thread-local variable: a number for the function that declares it
  };

  SymbolTable() {
    const ProgramFile file;
    const std::vector<Elf64_Shdr> sections = file.sections();
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
      const Elf64_Shdr& names = sections[section.sh_link];
      const char* const symbols = file.at(section.sh_offset, section.sh_size);
      const char* const text = file.at(names.sh_offset, names.sh_size);
      if (symbols != nullptr && text != nullptr)
        read(symbols, section.sh_size / sizeof(Elf64_Sym), text);
    }
    for (std::vector<Symbol>* symbols : {&functions_, &thread_locals_})
      std::sort(symbols->begin(), symbols->end(),
                [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
    number_functions();
  }

  // The function that an address lies in, or null.
  const Symbol* function_at(std::uintptr_t address) const { return find(functions_, address); }

  // Bytes of the thread-local variables that a function declares: "_ZZ4nameiE8variable" is one of
  // "_Z4namei".
  std::size_t thread_local_bytes_of(const Symbol& function) const {
    if (function.name.rfind("_Z", 0) != 0) return 0;
    const std::string prefix = "_ZZ" + function.name.substr(2) + "E";
    std::size_t bytes = 0;
    for (const Symbol& variable : thread_locals_)
      if (variable.name.rfind(prefix, 0) == 0 &&
          (function.file == 0 || variable.file == function.file))
        bytes += variable.size;
    return bytes;
  }

  // The variable that an offset in the thread-local image lies in, or null.
  const Symbol* thread_local_at(std::size_t offset) const { return find(thread_locals_, offset); }

  // All of them.
  const std::vector<Symbol>& thread_locals() const { return thread_locals_; }

  bool has_thread_locals() const { return !thread_locals_.empty(); }

 private:
  static const Symbol* find(const std::vector<Symbol>& symbols, std::uintptr_t address) {
    const auto after = std::upper_bound(
        symbols.begin(), symbols.end(), address,
        [](std::uintptr_t value, const Symbol& symbol) { return value < symbol.begin; });
    if (after == symbols.begin()) return nullptr;
    const Symbol& symbol = *std::prev(after);
    return address - symbol.begin < std::max<std::size_t>(symbol.size, 1) ? &symbol : nullptr;
  }

  // "_ZZ4nameiE8variable" and "_ZZ4nameiE5other_0" are of one function, "_ZZ4namei".
  static std::string function_of(const std::string& variable) {
    if (variable.rfind("_ZZ", 0) != 0) return "";
    for (std::size_t end = variable.rfind('E'); end != std::string::npos && end > 0;
         end = variable.rfind('E', end - 1)) {
      const char* const own = variable.c_str() + end + 1;
      char* identifier = nullptr;
      const std::size_t length = std::strtoul(own, &identifier, 10);
      if (identifier == own || length == 0 || std::strlen(identifier) < length) continue;
      if (identifier[length] == '\0' || identifier[length] == '_') return variable.substr(0, end);
    }
    return "";
  }

  void number_functions() {
    std::map<std::pair<std::string, int>, int> numbers;
    for (Symbol& variable : thread_locals_) {
      const std::string function = function_of(variable.name);
      if (function.empty()) continue;
      const auto next = static_cast<int>(numbers.size()) + 1;
      variable.function = numbers.emplace(std::pair(function, variable.file), next).first->second;
    }
  }

  void read(const char* symbols, std::size_t count, const char* names) {
    const std::uintptr_t bias = load_bias();
    int file = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
      if (type == STT_FILE) ++file;  // its local symbols follow
      if (symbol.st_shndx == SHN_UNDEF) continue;
      if (type == STT_FUNC)
        functions_.push_back(
            {bias + symbol.st_value, symbol.st_size, names + symbol.st_name, local ? file : 0});
      else if (type == STT_TLS)
        thread_locals_.push_back(
            {symbol.st_value, symbol.st_size, names + symbol.st_name, local ? file : 0});
    }
  }

  std::vector<Symbol> functions_;
  std::vector<Symbol> thread_locals_;
};

const SymbolTable& symbol_table() {
  static const SymbolTable table;
  return table;
}

std::string demangled(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string name = text == nullptr ? mangled : text;
  std::free(text);
  return name;
}

// "paged::sum::scratch" of "float paged::sum<float, 4>(float*)::scratch": what the instances of a
// template share. "" of a variable that no template has.
std::string name_in_template(const std::string& mangled) {
  const std::string whole = demangled(mangled);
  std::string name;
  int brackets = 0;
  bool has_arguments = false;
  for (const char c : whole) {
    if (c == '<' || c == '(') ++brackets;
    has_arguments |= c == '<';
    if (brackets == 0) name += c;
    if (c == '>' || c == ')') --brackets;
  }
  return has_arguments ? name.substr(name.rfind(' ') + 1) : "";
}

ThreadLocalExtent extent_of(const SymbolTable::Symbol& variable) {
  return {thread_local_image().begin + variable.begin, variable.size, variable.function,
          variable.name.rfind("_ZN5paged4simt", 0) == 0 || variable.name == "paged_guarded_shared"};
}

}  // namespace

void set_program_file(int descriptor) { program_descriptor = descriptor; }

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
      found = {begin, end - begin, info.dlpi_addr};
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
  const auto* function = symbol_table().function_at(reinterpret_cast<std::uintptr_t>(kernel));
  return function == nullptr ? "kernel" : bare_kernel_name(function->name);
}

std::size_t static_shared_bytes(const void* kernel) {
  static std::mutex mutex;
  static std::map<const void*, std::size_t> known;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.emplace(kernel, 0);
  if (!is_new) return entry->second;
  const auto* function = symbol_table().function_at(reinterpret_cast<std::uintptr_t>(kernel));
  if (function != nullptr) entry->second = symbol_table().thread_local_bytes_of(*function);
  return entry->second;
}

ThreadLocalVariable thread_local_variable_at(std::uintptr_t address) {
  const std::size_t offset = address - thread_local_image().begin;
  const auto* variable = symbol_table().thread_local_at(offset);
  if (variable == nullptr) return {};
  const std::string name = demangled(variable->name);
  const std::size_t colons = name.rfind("::");
  return {colons == std::string::npos ? name : name.substr(colons + 2), offset - variable->begin};
}

ThreadLocalExtent thread_local_extent_at(std::uintptr_t address) {
  const ThreadLocalImage image = thread_local_image();
  if (!symbol_table().has_thread_locals()) return {image.begin, image.size};
  const auto* variable = symbol_table().thread_local_at(address - image.begin);
  return variable == nullptr ? ThreadLocalExtent{} : extent_of(*variable);
}

std::vector<ThreadLocalExtent> same_variable_of_other_instances(std::uintptr_t address) {
  const auto* const variable = symbol_table().thread_local_at(address - thread_local_image().begin);
  const std::string name = variable == nullptr ? "" : name_in_template(variable->name);
  std::vector<ThreadLocalExtent> others;
  if (name.empty()) return others;
  for (const SymbolTable::Symbol& other : symbol_table().thread_locals())
    if (&other != variable && name_in_template(other.name) == name)
      others.push_back(extent_of(other));
  return others;
}

CodeRange function_range(const void* address) {
  const auto* function = symbol_table().function_at(reinterpret_cast<std::uintptr_t>(address));
  return function == nullptr ? CodeRange{} : CodeRange{function->begin, function->size};
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace paged::simt
