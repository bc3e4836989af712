// Blocks of Markdown that programs fill: what stands between two comments is theirs.
//
//   <!-- KIND OPTIONS: ARGUMENT -->
//
//   whatever the program wrote
//
//   <!-- end -->
//
// Each comment is a line of its own, from the first column on. `mutants` blocks are filled by
// `paged mutants`, all others by walkthroughs/pages.
#pragma once
#include <string>
#include <vector>

namespace paged {

struct MarkedBlock {
  std::string kind;      ///< one of marked_block_kinds()
  std::string options;   ///< what stands between the kind and the colon, "" for nothing
  std::string argument;  ///< what stands behind the colon
  int line = 0;          ///< of the first comment, counted from 1
  std::string content;   ///< all lines between the comments, line ends included

  /// Sets the content to these lines between two blank ones.
  void fill(const std::string& lines);
};

/// A text cut at its blocks.
struct MarkedText {
  std::vector<std::string> around;  ///< [blocks + 1], the comments among them
  std::vector<MarkedBlock> blocks;

  std::string text() const;
};

/// The kinds that there are.
const std::vector<std::string>& marked_block_kinds();

/// Cuts a text at its blocks. Throws InputError, which names the file and the line, for an unknown
/// kind, a block without an end, and an end without a block.
MarkedText read_marked_blocks(const std::string& file, const std::string& markdown);

}  // namespace paged
