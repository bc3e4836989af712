#include "walkthroughs/labs/submission.h"

#include "reference/input_error.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/input_file.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/code_lines.h"
#include "walkthroughs/labs/hole.h"
#include "walkthroughs/labs/outside_changes.h"
#include "walkthroughs/labs/source_remarks.h"
#include "walkthroughs/labs/starter.h"
#include "walkthroughs/labs/text_kind.h"

#include <algorithm>

namespace paged::labs {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{kSourceKiB} * 1024;

/// A link could make the grader read, and a compiler's message show, what is not the student's.
bool leads_outside(const fs::path& file, const fs::path& folder) {
  const fs::path inside = fs::canonical(file).lexically_relative(fs::canonical(folder));
  return inside.empty() || *inside.begin() == "..";
}

/// The files below a folder that `is_wanted` takes by their names, in order: of an archive that was
/// unpacked into it. Left out is what a Mac adds to an archive, and links. No folder is so large that
/// it would be walked for long.
template <typename IsWanted>
std::vector<fs::path> files_below(const fs::path& folder, IsWanted is_wanted) {
  constexpr std::size_t kMostSeen = 10000;
  std::vector<fs::path> found;
  std::size_t seen = 0;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, error), end;
       !error && entry != end && ++seen < kMostSeen; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name == "__MACOSX") entry.disable_recursion_pending();
    if (is_wanted(name.string()) && fs::is_regular_file(entry->symlink_status(error)))
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The file of the submission that stands for `path`; "" if there is none. Two are refused.
fs::path file_for(const std::string& path, const fs::path& folder) {
  std::error_code error;
  const fs::path name = fs::path(path).filename();
  for (const fs::path& file : {folder / path, folder / name})
    if (fs::exists(fs::symlink_status(file, error))) return file;
  const std::vector<fs::path> found =
      files_below(folder, [&](const std::string& own) { return own == name; });
  if (found.size() < 2) return found.empty() ? fs::path() : found.front();
  const fs::path first = found[0].lexically_relative(folder);
  const fs::path second = found[1].lexically_relative(folder);
  const std::string both = "the submission has " + name.string() +
                           " more than once: " + shortened(first.string(), 60) + ", " +
                           shortened(second.string(), 60);
  if (*first.begin() != *second.begin())
    throw InputError(both + "; if this is a folder of submissions, name them: " +
                     folder.filename().string() + "/*");
  throw InputError(both + "; hand in one");
}

/// What to do about "kernel (1).cuh", which browsers make of a second download; or "".
std::string renamed_by_browser(const fs::path& folder, const fs::path& name) {
  const std::string begin = name.stem().string() + " (";
  const std::string end = ")" + name.extension().string();
  const std::vector<fs::path> found = files_below(folder, [&](const std::string& own) {
    return own.starts_with(begin) && own.ends_with(end) && own.size() < begin.size() + 8;
  });
  if (found.empty()) return "";
  return "; '" + found.front().filename().string() + "' is not taken for it: rename it";
}

/// "it has inner/kernel.cu, notes.txt and 3 files more", for who handed in something else.
std::string what_there_is(const fs::path& folder) {
  constexpr std::size_t kMostNamed = 4;
  constexpr std::size_t kMostSeen = 1000;
  constexpr std::size_t kMostBytesOfAName = 60;
  std::vector<std::string> names;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, error), end;
       !error && entry != end && names.size() < kMostSeen; entry.increment(error))
    if (!entry->is_directory(error))
      names.push_back(
          shortened(entry->path().lexically_relative(folder).string(), kMostBytesOfAName));
  if (names.empty()) return "it is empty";
  std::sort(names.begin(), names.end());
  std::string text = "it has ";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamed) text += " and " + counted(names.size() - kMostNamed, "more file");
  return text;
}

std::string read_file(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(file, error)))
    throw InputError(file.lexically_relative(folder).string() +
                     " is a link, and no regular file of the submission: hand in the file itself");
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || leads_outside(file, folder))
    throw InputError("'" + file.string() + "' is no regular file of the submission");
  if (fs::file_size(file) > kMostBytes)
    throw InputError("'" + file.string() + "' has more than " + std::to_string(kMostBytes / 1024) +
                     " KB");
  std::string content = content_of_input(file);
  if (content.starts_with("\xEF\xBB\xBF")) content.erase(0, 3);  // some editors' mark of UTF-8
  if (const std::string why = objection_to_text(content); !why.empty())
    throw InputError(file.filename().string() + " " + why);
  return content;
}

std::string line_directive(std::size_t line, const fs::path& file) {
  std::string name;
  for (const char c : file.string())
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20)
      name += '_';
    else
      name += c;
  return "#line " + std::to_string(line) + " \"" + name + "\"";
}

/// "" or that the hole has the code that was handed out, or none, or none that computes.
std::string untouched_hole(const LabFile& file, const std::string& starter, const OwnLines& own) {
  const std::vector<std::string> given = lines_of(starter);
  const Hole hole = find_hole(given, file);
  const std::vector<std::string> code = code_in(lines_of(own.text));
  const std::size_t first = own.last < own.first ? own.first - 1 : own.first;  // none: the marker's
  const std::string lines =
      own.last > own.first ? "lines " + std::to_string(first) + " to " + std::to_string(own.last)
                           : "line " + std::to_string(first);
  const std::string place = "The hole (" + own.file + ", " + lines + ")";
  const auto at = [&](std::size_t i) { return given.begin() + static_cast<std::ptrdiff_t>(i); };
  if (code == code_in({at(hole.opening + 1), at(hole.closing)}))
    return place + " is still as it was given: your code goes there.";
  if (code.empty()) return place + " has no code in it: yours goes there.";
  return only_prints(own.text)
             ? place + " has code that only prints: nothing is stored where the " +
                   "rest of the kernel looks for it."
             : "";
}

/// The source with the student's hole in it.
std::string with_own_hole(const LabFile& file, const fs::path& own_file,
                          const std::string& own_text, Rules rules, Submission& submission) {
  const std::vector<std::string> own = lines_of(own_text);
  const Hole own_hole = find_hole(own, file);
  const std::vector<std::string> source =
      without_other_markers(lines_of(source_text(file.path)), file);
  const Hole hole = find_hole(source, file);
  const std::vector<std::string> content(own.begin() + own_hole.opening + 1,
                                         own.begin() + own_hole.closing);
  if (rules == Rules::on)
    check_source(text_of(content), "", own_file.filename().string(), own_hole.opening + 1);
  if (const std::string changes = changes_outside(own, own_hole, source, hole); !changes.empty())
    submission.note = own_file.filename().string() + ", " + changes +
                      ": changed outside of the hole, and put back; only the hole is taken";
  submission.own_lines.push_back({fs::path(file.path).filename().string(), own_hole.opening + 2,
                                  own_hole.closing, text_of(content)});
  std::vector<std::string> merged = with_hole_filled(source, hole, content);
  merged[hole.opening] = line_directive(own_hole.opening + 2, own_file);
  merged[hole.opening + content.size() + 1] = line_directive(own_hole.closing + 2, own_file);
  // What stands before the hole is the student's file to who reads a message, too.
  const std::size_t first = std::max(own_hole.opening + 1, hole.opening + 1) - hole.opening;
  merged.insert(merged.begin(), line_directive(first, own_file));
  return text_of(merged);
}

}  // namespace

std::string other_lab_of_folder(const fs::path& folder, const Lab& lab) {
  try {
    if (file_for("lab.txt", folder).empty()) return "";
    const std::string name = lab_of_folder(folder);
    return name == lab.name || find_lab(name).name == lab.name ? "" : name;
  } catch (const InputError&) {
    return "something that is no lab";
  }
}

std::string lab_of_folder(const fs::path& folder) {
  const fs::path file = fs::is_directory(folder) ? file_for("lab.txt", folder) : fs::path();
  if (file.empty())
    throw InputError("'" + folder.string() +
                     "' has no lab.txt that names its lab; name it by --lab");
  std::string name = read_file(file, folder);
  return name.substr(0, name.find_first_of(" \r\n"));
}

Submission read_submission(const Lab& lab, const fs::path& folder, Rules rules) {
  if (!fs::is_directory(folder)) throw InputError("'" + folder.string() + "' is no folder");
  Submission submission;
  const std::map<std::string, std::string> starter = starter_files(lab, StarterKind::with_hole);
  bool all_as_given = true;
  for (const LabFile& file : lab.files) {
    const fs::path own_file = file_for(file.path, folder);
    const std::string& given = starter.at(file.path);
    if (own_file.empty() && file.first.empty()) {
      submission.files[file.path] = given;  // what was not changed
      continue;
    }
    if (own_file.empty())
      throw InputError("the submission has no file " + fs::path(file.path).filename().string() +
                       "; " + what_there_is(folder) +
                       renamed_by_browser(folder, fs::path(file.path).filename()) +
                       "; hand in the lab's folder as it is, or that file alone, in no archive");
    const std::string own_text = read_file(own_file, folder);
    if (!file.first.empty()) {
      submission.files[file.path] = with_own_hole(file, own_file, own_text, rules, submission);
      submission.untouched = untouched_hole(file, given, submission.own_lines.back());
      continue;
    }
    if (rules == Rules::on) check_source(own_text, given, own_file.filename().string(), 0);
    submission.files[file.path] = line_directive(1, own_file) + "\n" + own_text;
    submission.own_lines.push_back(
        {fs::path(file.path).filename().string(), 1, lines_of(own_text).size(), own_text});
    all_as_given = all_as_given && code_in(lines_of(own_text)) == code_in(lines_of(given));
  }
  if (!lab.has_hole() && all_as_given)
    submission.untouched = "The files are still as they were given: the mistake is in them.";
  return submission;
}

std::string place_of_word(const Submission& submission, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    for (const OwnLines& own : submission.own_lines)
      if (const std::size_t line = line_of_word(own.text, word); line > 0)
        return own.file + ", line " + std::to_string(own.first + line - 1) + ": ";
  return "";
}

}  // namespace paged::labs
