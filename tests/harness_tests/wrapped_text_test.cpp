// Texts in lines that fit, whatever they are made of.
#include "tests/harness/wrapped_text.h"

#include "tests/harness/message_parts.h"

#include <gtest/gtest.h>

#include <string>

namespace paged {
namespace {

TEST(WrappedTextTest, BreaksAtBlanksAndKeepsLineEndsAndAlignment) {
  EXPECT_EQ(wrapped("one two three four five six seven", 2, 22),
            "  one two three four\n  five six seven\n");
  EXPECT_EQ(wrapped("one two three four five six seven", 2, 22, 3),
            "  one two three four\n     five six seven\n");
  EXPECT_EQ(wrapped("a   = 1\nbcd = 2", 1, 80), " a   = 1\n bcd = 2\n");
}

TEST(WrappedTextTest, CountsCharactersAndNotBytes) {
  const std::string umlauts = "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F";  // 4 columns, 8 bytes
  EXPECT_EQ(columns_of(umlauts), 4U);
  const std::string five = umlauts + " " + umlauts + " " + umlauts + " " + umlauts + " " + umlauts;
  EXPECT_EQ(wrapped(five, 0, 24), five + "\n");
  EXPECT_EQ(wrapped(five, "", 24), five + "\n");
  EXPECT_EQ(shortened(five, 24), five);
  EXPECT_EQ(shortened(five, 8), umlauts + " ...");
}

TEST(MessagePartsTest, ACauseMayBeOfSeveralParts) {
  const MessageParts both =
      parts_of("element 3; token 1: 0.1; likely cause: a; or b; what to do: c; d");
  EXPECT_EQ(both.found, "element 3; token 1: 0.1");
  EXPECT_EQ(both.cause, "a; or b");
  EXPECT_EQ(both.advice, "c; d");
  const MessageParts advice = parts_of("a data race; what to do: a barrier");
  EXPECT_EQ(advice.found, "a data race");
  EXPECT_EQ(advice.cause, "");
  EXPECT_EQ(advice.advice, "a barrier");
  const MessageParts none = parts_of("a; b");
  EXPECT_EQ(none.found, "a; b");
  EXPECT_EQ(none.cause + none.advice, "");
}

TEST(WrappedTextTest, BreaksWordsThatAreLongerThanALine) {
  const std::string word(50, 'x');
  EXPECT_EQ(wrapped("a " + word + " b", 0, 20), "a\n" + std::string(20, 'x') + "\n" +
                                                    std::string(20, 'x') + "\n" +
                                                    std::string(10, 'x') + " b\n");
  std::string accents;
  for (int i = 0; i < 21; ++i) accents += "\xC3\xA9";
  EXPECT_EQ(wrapped(accents, 0, 20), accents.substr(0, 40) + "\n\xC3\xA9\n") << "cut in two";
}

TEST(WrappedTextTest, GoesOnUnderWhatStandsThereAlready) {
  EXPECT_EQ(wrapped(" one  two\tthree four five\x1b", "caf\xC3\xA9: ", 26),
            "caf\xC3\xA9: one two\\x09three\n      four five\\x1B\n");
  EXPECT_EQ(wrapped("  ", "Note: ", 40), "");
}

TEST(WrappedTextTest, GivesEachPartOfAMessageItsLine) {
  EXPECT_EQ(wrapped_parts("one; two three four five six; seven", 2, 22),
            "  one\n  two three four five\n    six\n  seven\n");
  EXPECT_EQ(wrapped_parts("two three four five six", 2, 22, 0), "  two three four five\n  six\n");
}

TEST(WrappedTextTest, ShortensToWhatFitsWithItsDots) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("abcdefg", 2), "...") << "no room for any";
}

}  // namespace
}  // namespace paged
