#include "walkthroughs/labs/submission.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/labs/hole.h"
#include "walkthroughs/labs/outside_changes.h"
#include "walkthroughs/labs/starter.h"

namespace paged::labs {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 256 * 1024;

/// A link could make the grader read, and a compiler's message show, what is not the student's.
bool leads_outside(const fs::path& file, const fs::path& folder) {
  const fs::path inside = fs::canonical(file).lexically_relative(fs::canonical(folder));
  return inside.empty() || *inside.begin() == "..";
}

/// The file of the submission that stands for `path`; "" if there is none.
fs::path file_for(const std::string& path, const fs::path& folder) {
  std::error_code error;
  for (const fs::path& file : {folder / path, folder / fs::path(path).filename()})
    if (fs::exists(fs::symlink_status(file, error))) return file;
  return {};
}

std::string read_file(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || leads_outside(file, folder))
    throw InputError("'" + file.string() + "' is no regular file of the submission");
  if (fs::file_size(file) > kMostBytes)
    throw InputError("'" + file.string() + "' has more than " + std::to_string(kMostBytes / 1024) +
                     " KB");
  return content_of_input(file);
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
  submission.own_lines.push_back(
      {fs::path(file.path).filename().string(), own_hole.opening + 2, own_hole.closing});
  std::vector<std::string> merged = with_hole_filled(source, hole, content);
  merged[hole.opening] = line_directive(own_hole.opening + 2, own_file);
  merged[hole.opening + content.size() + 1] = line_directive(own_hole.closing + 2, own_file);
  return text_of(merged);
}

}  // namespace

std::string other_lab_of_folder(const fs::path& folder, const Lab& lab) {
  std::error_code error;
  if (!fs::exists(folder / "lab.txt", error)) return "";
  try {
    const std::string name = lab_of_folder(folder);
    return name == lab.name || find_lab(name).name == lab.name ? "" : name;
  } catch (const InputError&) {
    return "something that is no lab";
  }
}

std::string lab_of_folder(const fs::path& folder) {
  const fs::path file = folder / "lab.txt";
  if (!fs::exists(file))
    throw InputError("'" + folder.string() +
                     "' has no lab.txt that names its lab; name it by --lab");
  std::string name = read_file(file, folder);
  return name.substr(0, name.find_first_of(" \r\n"));
}

Submission read_submission(const Lab& lab, const fs::path& folder, Rules rules) {
  if (!fs::is_directory(folder)) throw InputError("'" + folder.string() + "' is no folder");
  Submission submission;
  const std::map<std::string, std::string> starter = starter_files(lab, StarterKind::with_hole);
  for (const LabFile& file : lab.files) {
    const fs::path own_file = file_for(file.path, folder);
    if (own_file.empty() && file.first.empty()) {
      submission.files[file.path] = starter.at(file.path);  // what was not changed
      continue;
    }
    if (own_file.empty())
      throw InputError("the submission has no file " + fs::path(file.path).filename().string());
    const std::string own_text = read_file(own_file, folder);
    if (file.first.empty()) {
      if (rules == Rules::on)
        check_source(own_text, starter.at(file.path), own_file.filename().string(), 0);
      submission.files[file.path] = own_text;
      submission.own_lines.push_back(
          {fs::path(file.path).filename().string(), 1, lines_of(own_text).size()});
    } else {
      submission.files[file.path] = with_own_hole(file, own_file, own_text, rules, submission);
    }
  }
  return submission;
}

}  // namespace paged::labs
