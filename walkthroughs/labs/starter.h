// What a student gets: files made from the sources as they are now.
#pragma once
#include "walkthroughs/labs/lab.h"

#include <map>
#include <string>

namespace paged::labs {

enum class StarterKind {
  with_hole,  ///< the hole empty but for its contract, or the mistake in
  solved      ///< as the source has it
};

/// Texts of the files that the student works on, by path.
std::map<std::string, std::string> starter_files(const Lab& lab, StarterKind kind);

/// Writes a file, in a folder that is made for it if need be.
void write_text(const std::filesystem::path& file, const std::string& text);

/// Makes a folder with these files, the task (TASK.md) and the lab's name (lab.txt).
/// Throws InputError if there is something in the folder already.
void make_starter(const Lab& lab, const std::filesystem::path& folder, StarterKind kind);

}  // namespace paged::labs
