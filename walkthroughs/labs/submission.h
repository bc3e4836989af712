// What a student hands in, read with care, and what of it is compiled.
#pragma once
#include "walkthroughs/labs/lab.h"
#include "walkthroughs/labs/source_rules.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace paged::labs {

/// Lines of a submission's file that its author may write, counted from 1.
struct OwnLines {
  std::string file;  ///< without its folder, as places in kernels name it
  std::size_t first = 0;
  std::size_t last = 0;
  std::string text;  ///< the lines themselves
};

/// Sources to compile in place of the repository's own, by path.
struct Submission {
  std::map<std::string, std::string> files;
  std::string note;       ///< "" or what the student should know, one line
  std::string untouched;  ///< "" or that it is what was handed out, or only prints, one line
  std::vector<OwnLines> own_lines;
};

/// The lab that a folder is of: the content of its lab.txt. Throws InputError if there is none.
std::string lab_of_folder(const std::filesystem::path& folder);

/// "" or the lab that a folder's lab.txt names, if there is one and it is not of `lab`.
std::string other_lab_of_folder(const std::filesystem::path& folder, const Lab& lab);

/// Reads the lab's files from a folder, where they lie under their paths or side by side.
///
/// Of a file with a hole only the hole is taken, and put into the source as it is now. Lines keep
/// the numbers that they have in the student's file. Throws InputError, in one line, for what
/// cannot be graded: a missing file or marker, no regular file, one too large, and what no kernel
/// needs (source_rules.h).
Submission read_submission(const Lab& lab, const std::filesystem::path& folder,
                           Rules rules = Rules::on);

/// "FILE, line N: " of the first place in a submission's own code where one of these words stands,
/// the first word first; "" if none does.
std::string place_of_word(const Submission& submission, const std::vector<std::string>& words);

}  // namespace paged::labs
