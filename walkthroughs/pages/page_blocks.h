// What programs write into the pages: code from the tested source, output of runs, measurements.
#pragma once
#include "tests/harness/marked_blocks.h"

#include <filesystem>
#include <string>
#include <vector>

namespace paged {

/// Where a page stands and what its blocks come from.
struct PagePlace {
  std::filesystem::path root;  ///< of the repository: code, measurements, and where commands run
  std::filesystem::path programs;  ///< the folder that pages call build/bin
  std::filesystem::path page;      ///< the Markdown file, absolute
  std::string name;  ///< what messages call it: its path from the root, if it is there
};

/// The lines of a `code`, `run`, `measured` or `stages` block as they should be. Throws InputError.
///
///   <!-- code: FILE MARKER -->       the lines of FILE between `// [MARKER]` and `// [/MARKER]`
///   <!-- run: COMMAND -->            the command, and what it prints on both its outputs
///   <!-- run lines=2-5: COMMAND -->  of that, only these lines
///   <!-- measured: FILE KEY=VALUE,... ... rows=KEY,... columns=KEY value=KEY -->
///                                    a table of those "results" of a file of docs/measurements
///                                    whose keys have one of these values
///   <!-- stages: FILE... -->         the stages, with their times in these files of
/// docs/measurements
std::string code_lines(const MarkedBlock& block, const PagePlace& place);
std::string run_lines(const MarkedBlock& block, const PagePlace& place);
std::string measured_lines(const MarkedBlock& block, const PagePlace& place);
std::string stage_table_lines(const MarkedBlock& block, const PagePlace& place);

/// What is wrong with the numbers in a page's own sentences, a line each. A line
///
///   <!--said 179 times its bound | 1664 of 2176 elements-->
///
/// holds each of its phrases to stand in the page's sentences and in the block before it, where a
/// number may have more places behind the point, and is rounded to those that are said. Words and
/// numbers are whole ones: 179 is not said by 1179. `A => B` is for a block that says it in other
/// words: A stands there, B is said, and has no number that A has not. A phrase that is empty is
/// wrong. Throws InputError where no block is before it, or where a line does not end as it should.
std::vector<std::string> wrong_numbers(const MarkedText& page, const std::string& name);

}  // namespace paged
