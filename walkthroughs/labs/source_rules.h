// What a submission's text may not contain.
#pragma once
#include <cstddef>
#include <string>

namespace paged::labs {

/// Which rules a submission is held to: those on its text and on its symbols. Fewer only in tests
/// of what holds without them.
enum class Rules { on, on_symbols_alone, off };

/// Throws InputError, with file and line, for what no kernel needs and what would get round the
/// checks: preprocessor directives other than `#pragma unroll` and those of `original`; assembly;
/// attributes, which could switch off the watching of accesses; exceptions; the CPU machine's
/// inside; names of the system's, whose macros could be any of these; functions that copy memory
/// unseen; and all that a compiler could read otherwise than the search does.
///
/// @param lines_before  of the text in its file
void check_source(const std::string& text, const std::string& original, const std::string& file,
                  std::size_t lines_before);

}  // namespace paged::labs
