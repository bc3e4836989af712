// The kernel's process asks the harness for source lines: it can start no addr2line itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paged::labs {

class Channel;

/// The channel that ask_for_lines() uses.
void set_line_channel(Channel& channel);

/// What addr2line prints for these addresses of the program; a simt::LineReader.
std::vector<std::string> ask_for_lines(const std::string& file,
                                       const std::vector<std::uintptr_t>& addresses);

}  // namespace paged::labs
