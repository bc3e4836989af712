// Work in a process of its own, without a kernel.
#include "tests/harness/isolated_process.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <stdexcept>
#include <string>

namespace paged {
namespace {

struct Outcome {
  int messages = 0;
  std::optional<ProcessEnd> end;
};

Outcome outcome_of(const std::function<void(ParentLine&)>& work) {
  IsolatedProcess process({}, work);
  Outcome outcome;
  while (process.receive()) ++outcome.messages;
  outcome.end = process.end();
  return outcome;
}

TEST(IsolatedProcessTest, WhatWorkThrowsIsSaidAndStaysInItsProcess) {
  const pid_t own = getpid();
  const Outcome failed = outcome_of([](ParentLine& line) {
    line.send({"one"});
    throw std::runtime_error("the library is gone");
  });
  ASSERT_EQ(getpid(), own) << "the child went on in the caller's code";
  EXPECT_EQ(failed.messages, 1);
  ASSERT_TRUE(failed.end);
  EXPECT_EQ(failed.end->text, "could not be tried: the library is gone");
  const Outcome unknown = outcome_of([](ParentLine&) { throw 7; });
  EXPECT_EQ(unknown.end->text, "could not be tried: an exception of unknown type");
}

TEST(IsolatedProcessTest, EverythingThatWasSentBeforeTheEndArrives) {
  for (int i = 0; i < 200; ++i) {
    // The second process keeps the pipe open, so that only the first one's end tells.
    const Outcome all = outcome_of([](ParentLine& line) {
      if (fork() == 0) {
        usleep(20000);
        _exit(0);
      }
      for (int message = 0; message < 3; ++message) line.send({"message"});
    });
    ASSERT_EQ(all.messages, 3);
    ASSERT_FALSE(all.end) << all.end->text;
  }
}

}  // namespace
}  // namespace paged
