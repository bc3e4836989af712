// From machine addresses to source lines, by addr2line.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace paged::simt {

/// "file:line" by return address; "" where it is not known.
using SourceLines = std::map<std::uintptr_t, std::string>;

/// Looks up return addresses in the program and its shared libraries. Of the inlined functions
/// there it takes the innermost one outside of kernels/: the line of the kernel that calls, say,
/// block_sum(). If there is none, the innermost one that is not of the CPU machine or the system.
/// Answers are remembered. All are "" where addr2line is missing.
SourceLines look_up_source_lines(const std::vector<std::uintptr_t>& return_addresses);

/// The same, but the innermost function that is not of the CPU machine or the system, nor
/// load_vec() or store_vec(): the line that asks for memory, in a stage or a building block.
SourceLines look_up_lines_of_accesses(const std::vector<std::uintptr_t>& return_addresses);

/// Answers what `addr2line -a -i -e file addresses...` prints, line by line: for each address
/// itself, then the lines of inlined functions from the inside out.
using LineReader = std::vector<std::string> (*)(const std::string& file,
                                                const std::vector<std::uintptr_t>& addresses);

/// Replaces the reader, which starts addr2line as a process (addr2line.h): one that may start none
/// asks another.
void set_line_reader(LineReader reader);

/// How good a line is to name, given the source tree's path with a slash at its end: 2 a kernel's,
/// 1 that of a building block of kernels, 0 one of the CPU machine or the system.
int rank_of_line(const std::string& line, const std::string& source_tree);

}  // namespace paged::simt
