#include "tests/mutants/mutant_story.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/message_parts.h"
#include "tests/harness/source_edit.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/mutants/cache_trial.h"

#include <algorithm>
#include <sstream>

namespace paged {
namespace {

/// Every line of a text after a prefix; "(nothing)" if there is none.
std::string prefixed(const std::string& text, const std::string& prefix) {
  std::string result;
  std::istringstream lines(text.empty() ? "(nothing)" : text);
  for (std::string line; std::getline(lines, line);) result += prefix + line + "\n";
  return result;
}

std::string edit_of(const Mutant& mutant) {
  const EditedLines lines = edited_lines(content_of_input(source_root() / mutant.file), mutant);
  return mutant.file + ", built into " + mutant.source + ":\n\n" + prefixed(lines.before, "  - ") +
         prefixed(lines.after, "  + ") + "\n";
}

std::string statement_of(const std::string& id) {
  for (const Invariant& invariant : invariants())
    if (invariant.id == id) {
      const bool full_stop = invariant.statement.ends_with('.');
      return " (" + invariant.statement.substr(0, invariant.statement.size() - full_stop) + ")";
    }
  return "";
}

/// "Caught by tail-isolation (...), while it was tried on the case ..., number 26:" and the report.
std::string told(const Catch& caught, const std::string& who) {
  std::string text = who + caught.caught_by + statement_of(caught.caught_by);
  if (caught.invariant != caught.caught_by) text += ", while " + caught.invariant + " was tried";
  text += ", on case " + std::to_string(caught.cases) + ", " + caught.case_name + ":";
  return wrapped(text, 0, text_columns()) + "\n" + wrapped(caught.message, 2, text_columns()) +
         "\n";
}

/// What the kernel without the edit does where the mutant was caught.
std::string right_kernel_told(const HuntResult& result, HuntingGround& ground, Device& device) {
  const Catch& first = result.first;
  if (result.mutant.kernel->cache_kernels != nullptr)
    return try_cache_kernels(cache_kernels(Backend::cpu), device, first.invariant).caught_by.empty()
               ? "Without the edit, the cache kernels keep " + first.invariant + ".\n"
               : "Without the edit, the cache kernels fail, too.\n";
  const std::string number = std::to_string(stage_of(result.mutant).number);
  const std::optional<bool> kept =
      ground.keeps(find_stage(number, Backend::cpu), device, first.invariant, first.case_name);
  if (!kept) return "This build has no stage " + number + " without the edit for that case.\n";
  return "Without the edit, stage " + number + (*kept ? " keeps " : " does not keep ") +
         first.invariant + " on that case.\n";
}

}  // namespace

EditedLines edited_lines(const std::string& source, const Mutant& mutant) {
  const std::size_t at = nth_place(source, mutant.text, mutant.nth);
  if (at == source.npos) throw InputError("the text of " + mutant.name + " is not in its file");
  const std::size_t last = at + mutant.text.size() - 1;
  const std::size_t begin = source.rfind('\n', at) + 1;  // npos + 1: the beginning
  const std::size_t end = std::min(source.find('\n', last), source.size() - 1) + 1;
  return {source.substr(begin, end - begin), source.substr(begin, at - begin) + mutant.replacement +
                                                 source.substr(last + 1, end - last - 1)};
}

std::string story_of(const HuntResult& result, HuntingGround& ground, Device& device) {
  const Mutant& mutant = result.mutant;
  if (*mutant.kernel->why_missing != '\0') return mutant.name + " " + result.complaint + "\n";
  std::string text =
      wrapped(mutant.name + ": " + mutant.mistake, 0, text_columns()) + edit_of(mutant);
  if (!mutant.proof.empty())
    text += wrapped("Nothing can catch it. " + mutant.proof, 0, text_columns());
  if (!result.first.caught_by.empty())
    text += told(result.first, "Caught by ") + right_kernel_told(result, ground, device);
  if (!result.meant.caught_by.empty())
    text += "\n" + told(result.meant, "What is there for this mistake catches it by itself: ");
  if (!result.complaint.empty())
    text += wrapped("WRONG: it " + result.complaint, 0, text_columns());
  return text;
}

std::string quiz_of(const HuntResult& result, int number) {
  Catch first = result.first;
  const MessageParts parts = parts_of(first.message);
  first.message = parts.found;
  const std::string quiz = "--quiz " + std::to_string(number);
  return wrapped("Quiz " + std::to_string(number) + ": one mistake is in " + result.mutant.source +
                     ", or in a file that it includes.",
                 0, text_columns()) +
         "\n" + told(first, "Caught by ") +
         wrapped("Which line, and what is wrong with it? `build/bin/paged mutants " + quiz +
                     " --answer` tells" +
                     (parts.cause.empty() ? "." : ", and so does the likely cause, left out here."),
                 0, text_columns());
}

}  // namespace paged
