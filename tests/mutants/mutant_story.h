// One mutant told to a reader: what was edited, who catches it, and what is reported.
#pragma once
#include "tests/mutants/hunt.h"

#include <string>

namespace paged {

/// The lines of the source that a mutant's edit touches, without and with it. Throws InputError if
/// the edit does not apply.
struct EditedLines {
  std::string before, after;
};
EditedLines edited_lines(const std::string& source, const Mutant& mutant);

/// Lines of at most text_columns(), but for those of the source.
std::string story_of(const HuntResult& result, HuntingGround& ground, Device& device);

/// The same for who wants to find the mistake: what catches it and what is reported, without its
/// name, its edit and the likely cause.
std::string quiz_of(const HuntResult& result, int number);

}  // namespace paged
