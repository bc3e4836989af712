#include "walkthroughs/labs/starter.h"

#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/invariant.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/output_file.h"
#include "tests/harness/shell_word.h"
#include "tests/harness/source_edit.h"
#include "tests/harness/wrapped_text.h"
#include "walkthroughs/labs/case_words.h"
#include "walkthroughs/labs/hole.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace paged::labs {
namespace {

std::string with_edit(const std::string& text, const SourceEdit& edit) {
  const std::size_t position = nth_place(text, edit.text, edit.nth);
  if (position == std::string::npos)
    throw InputError("the text that the mistake replaces is no longer in " + edit.file);
  std::string edited = text;
  return edited.replace(position, edit.text.size(), edit.replacement);
}

std::vector<std::string> content_of_hole(const Lab& lab, const std::vector<std::string>& lines,
                                         const Hole& hole) {
  const std::string& marker = lines[hole.opening];
  const std::string indent = marker.substr(0, marker.find('/'));
  std::vector<std::string> content = {indent + "// YOUR CODE, about " +
                                      std::to_string(lines_of_code(lines, hole)) + " lines."};
  for (const std::string& line : lab.contract)
    content.push_back(line.empty() ? indent + "//" : indent + "// " + line);
  for (const std::string& line : lab.placeholder) content.push_back(indent + line);
  return content;
}

std::string starter_text(const Lab& lab, const LabFile& file, StarterKind kind) {
  std::string text = source_text(file.path);
  if (kind == StarterKind::with_hole && lab.edit && lab.edit->file == file.path)
    text = with_edit(text, *lab.edit);
  const std::vector<std::string> lines = without_other_markers(lines_of(text), file);
  if (!lab.has_hole() || kind == StarterKind::solved) return text_of(lines);
  const Hole hole = find_hole(lines, file);
  return text_of(with_hole_filled(lines, hole, content_of_hole(lab, lines, hole)));
}

/// A paragraph of Markdown, or an item of a list.
std::string paragraph(const std::string& text, const std::string& first = "") {
  return wrapped(text, first, kPageColumns);
}

std::string points_of(const Lab& lab) {
  std::string text;
  for (const LabCheck& check : lab.checks)
    text +=
        paragraph(counted(check.points, "point") + ", `" + check.step + "`" +
                      (check.alone ? " (alone)" : "") + ": " + find_invariant(check.id).statement,
                  "- ");
  std::string counts;
  for (const CountName& count : lab.transactions.counts) {
    std::string name = count.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    counts += (counts.empty() ? "" : ", ") + name;
  }
  return text + paragraph(counted(lab.transactions.points, "point") +
                              ", transactions: no more than the stage's own " + counts + ".",
                          "- ");
}

/// "worked-example-4-warps is 1 sequence with ...": the words for cases, on one that is counted.
std::string first_case_in_words(const Lab& lab) {
  const CaseSpec spec = find_case(lab.transactions.cases.front());
  return "`" + spec.name + "` is " + in_words(build_case(spec).problem) + ".";
}

/// The folder as commands name it that are given in the repository's root; of one elsewhere its
/// name alone, as whoever it is handed out to has it in a place of their own.
struct NamedFolder {
  std::string name;
  bool is_inside;
};

NamedFolder from_root(const std::filesystem::path& folder) {
  std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const std::filesystem::path inside = whole.lexically_relative(PAGED_SOURCE_ROOT);
  const bool is_inside = !inside.empty() && *inside.begin() != "..";
  return {shell_word((is_inside ? inside : whole.filename()).string()), is_inside};
}

std::string commands_on(const NamedFolder& folder) {
  const std::string where =
      folder.is_inside
          ? "in the repository's folder:"
          : "in the repository's folder, with the path of the folder that this file is "
            "in for " +
                folder.name + ":";
  return "\n" + paragraph("To have it built, tried and explained, " + where) +
         "\n    bash walkthroughs/lab.sh check " + folder.name +
         "\n\nThe same with a hint; 2, 3 and 4 say more:\n\n"
         "    bash walkthroughs/lab.sh check " +
         folder.name + " --hint 1\n\n";
}

std::string task_of(const Lab& lab, const NamedFolder& folder) {
  std::string text = "# " + lab.title + "\n\n";
  for (const std::string& part : lab.task) text += paragraph(part) + "\n";
  if (lab.has_hole())
    text += paragraph("To read: `walkthroughs/" + lab.source.substr(std::string("stage_").size()) +
                      "/README.md`, up to its section \"The code\", which is the solution; and " +
                      "`walkthroughs/reading_a_failure/README.md`.") +
            "\n";
  text += paragraph(lab.has_hole()
                        ? "You write what is missing between two markers; what is outside of them "
                          "stays as it is, and is put back if you change it:"
                        : "The mistake is in one of these files. Any of them may be changed:") +
          "\n";
  for (const LabFile& file : lab.files)
    text +=
        "- `" + file.path + "`" +
        (file.first.empty() ? ""
                            : ", between `// [" + file.first + "]` and `// [/" + file.last + "]`") +
        "\n";
  text += commands_on(folder);
  text += paragraph("What fails is shown on a case, in these words: " + first_case_in_words(lab)) +
          "\n## Points\n\n";
  return text +
         paragraph(
             "Each step is tried when all before it hold; but for a step that stands alone no "
             "other waits.") +
         "\n" + points_of(lab);
}

}  // namespace

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  OutputFile(file).commit(text);
}

std::map<std::string, std::string> starter_files(const Lab& lab, StarterKind kind) {
  std::map<std::string, std::string> files;
  for (const LabFile& file : lab.files) files[file.path] = starter_text(lab, file, kind);
  return files;
}

void check_new_folder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const std::string name = "'" + folder.string() + "'";
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(folder, error));
  const bool is_folder = fs::is_directory(folder, error);
  if (is_there && (!is_folder || !fs::is_empty(folder, error)))
    throw InputError(name +
                     (is_folder ? " is there already and not empty" : " is there, as a file") +
                     "; name a new folder");
  const fs::path inside = fs::weakly_canonical(fs::absolute(folder), error)
                              .lexically_relative(fs::canonical(PAGED_SOURCE_ROOT));
  for (const char* own :  // lab.sh has the same ones; a test compares them
       {"build", "docs", "kernels", "reference", "stages", "tests", "walkthroughs"})
    if (!inside.empty() && *inside.begin() == own)
      throw InputError(name + " is in the repository's own folder " + own +
                       "; name one beside it, such as my_lab");
  fs::path parent = fs::absolute(folder).lexically_normal();
  while (!parent.empty() && !fs::exists(parent, error)) parent = parent.parent_path();
  if (!fs::is_directory(parent, error) || access(parent.c_str(), W_OK | X_OK) != 0)
    throw InputError(name + " cannot be made: nothing can be written in '" + parent.string() + "'");
}

void make_starter(const Lab& lab, const std::filesystem::path& folder, StarterKind kind) {
  check_new_folder(folder);
  const std::map<std::string, std::string> files = starter_files(lab, kind);
  for (const auto& [path, text] : files) write_text(folder / path, text);
  write_text(folder / "TASK.md", task_of(lab, from_root(folder)));
  write_text(folder / "lab.txt", lab.name + "\n");
}

}  // namespace paged::labs
