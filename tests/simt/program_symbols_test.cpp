#include "kernels/simt/program_symbols.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace paged::simt {

int a_function_with_a_name() { return getpid(); }

namespace {

TEST(ProgramSymbols, KnowNamesOfFunctions) {
  EXPECT_EQ(kernel_name(reinterpret_cast<const void*>(&a_function_with_a_name)),
            "a_function_with_a_name");
}

// This program with its symbols behind the table of sections, where patchelf leaves them.
std::string with_symbols_at_the_end() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string program{std::istreambuf_iterator<char>(file), {}};
  Elf64_Ehdr header;
  std::memcpy(&header, program.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    const std::size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, program.data() + at, sizeof section);
    const bool is_loaded = (section.sh_flags & SHF_ALLOC) != 0;
    if (is_loaded || (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_STRTAB)) continue;
    const std::string content = program.substr(section.sh_offset, section.sh_size);
    program.replace(section.sh_offset, section.sh_size, section.sh_size, '\0');
    program.resize((program.size() + 7) / 8 * 8);
    section.sh_offset = program.size();
    program += content;
    std::memcpy(program.data() + at, &section, sizeof section);
  }
  return program;
}

TEST(ProgramSymbols, AreReadWhereverTheyLieInTheFile) {
  const std::filesystem::path copy =
      std::filesystem::temp_directory_path() / ("paged_moved_symbols_" + std::to_string(getpid()));
  std::ofstream(copy, std::ios::binary) << with_symbols_at_the_end();
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  const std::string command =
      "'" + copy.string() + "' --gtest_brief=1 --gtest_filter=ProgramSymbols.KnowNamesOfFunctions";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::filesystem::remove(copy);
}

}  // namespace
}  // namespace paged::simt
