// Blocks of Markdown that programs fill.
#include "tests/harness/marked_blocks.h"

#include "reference/input_error.h"

#include <gtest/gtest.h>

namespace paged {
namespace {

std::string message_of(const std::string& markdown) {
  try {
    read_marked_blocks("a.md", markdown);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(MarkedBlocks, AreCutOutWithTheirLineAndPutBackAsTheyWere) {
  const std::string text =
      "# A\n<!-- code: a/b.cu walk -->\nold\n<!-- end -->\nmiddle\n"
      "<!-- run lines=2-3: build/bin/paged trace --case a:b -->\n<!-- end -->";
  const MarkedText read = read_marked_blocks("a.md", text);
  ASSERT_EQ(read.blocks.size(), 2U);
  EXPECT_EQ(read.blocks[0].kind, "code");
  EXPECT_EQ(read.blocks[0].options, "");
  EXPECT_EQ(read.blocks[0].argument, "a/b.cu walk");
  EXPECT_EQ(read.blocks[0].content, "old\n");
  EXPECT_EQ(read.blocks[0].line, 2);
  EXPECT_EQ(read.blocks[1].kind, "run");
  EXPECT_EQ(read.blocks[1].options, "lines=2-3");
  EXPECT_EQ(read.blocks[1].argument, "build/bin/paged trace --case a:b");
  EXPECT_EQ(read.blocks[1].line, 6);
  EXPECT_EQ(read.text(), text);
}

TEST(MarkedBlocks, AFilledBlockReadsBack) {
  MarkedText read = read_marked_blocks("a.md", "<!-- code: x y -->\n<!-- end -->\nB\n");
  read.blocks[0].fill("new\n");
  EXPECT_EQ(read.text(), "<!-- code: x y -->\n\nnew\n\n<!-- end -->\nB\n");
  EXPECT_EQ(read_marked_blocks("a.md", read.text()).blocks[0].content, "\nnew\n\n");
}

TEST(MarkedBlocks, OtherCommentsAreText) {
  for (const char* text : {"<!-- a remark -->\n", "  <!-- code: x y -->\n", "<!-- Note: x -->\n",
                           "<!-- code: x y\n-->\n", "see <!-- end -->\n", ""})
    EXPECT_EQ(read_marked_blocks("a.md", text).blocks.size(), 0U) << text;
}

TEST(MarkedBlocks, MistakesNameFileAndLine) {
  EXPECT_EQ(
      message_of("\n<!-- cod: x y -->\n<!-- end -->\n"),
      "a.md:2: there is no kind of block 'cod'; there are code, run, measured, stages, mutants");
  EXPECT_EQ(message_of("<!-- code: x y -->\n\n"),
            "a.md:1: the block 'code: x y' has no line '<!-- end -->'");
  EXPECT_EQ(message_of("<!-- code: x y -->\n<!-- code: z y -->\n<!-- end -->\n"),
            "a.md:1: the block 'code: x y' has no line '<!-- end -->'");
  EXPECT_EQ(message_of("a\n\n<!-- end -->\n"), "a.md:3: '<!-- end -->' ends no block");
}

}  // namespace
}  // namespace paged
