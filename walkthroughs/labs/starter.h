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

/// Throws InputError that says why if a folder for a starter cannot be made: there is something in
/// it already, it is among the sources, or nothing can be written there.
void check_new_folder(const std::filesystem::path& folder);

/// Makes a folder with these files, the task (TASK.md) and the lab's name (lab.txt).
/// Throws as check_new_folder() does.
void make_starter(const Lab& lab, const std::filesystem::path& folder, StarterKind kind);

}  // namespace paged::labs
