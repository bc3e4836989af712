// pages: fills the marked blocks of Markdown files, or says where they differ from what the
// programs and the sources say now.
//
//   pages [--root FOLDER] --write FILE...
//   pages [--root FOLDER] --check FILE... [--without-runs-of WORD]
//
// --without-runs-of: what runs printed whose command has that word in it is taken as it stands, for
// pages whose longer runs other tests compare.
#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/one_line.h"
#include "tests/harness/output_file.h"
#include "walkthroughs/pages/page_blocks.h"

#include <iostream>
#include <sstream>

namespace paged {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> written, checked;
  std::string root = PAGED_ROOT;  ///< of the repository
  std::string not_run;            ///< in a command: it is taken as it stands; "": all are run
};

/// The lines of a block that is ours; "" for one that another program fills.
std::string fresh_lines(const MarkedBlock& block, const PagePlace& place) {
  try {
    if (block.kind == "code") return code_lines(block, place);
    if (block.kind == "run") return run_lines(block, place);
    if (block.kind == "measured") return measured_lines(block, place);
    if (block.kind == "stages") return stage_table_lines(block, place);
    return "";
  } catch (const InputError& error) {
    throw InputError(place.name + ":" + std::to_string(block.line) + ": " + error.what());
  }
}

/// The file with every block of ours as it should be.
MarkedText refreshed(MarkedText page, const PagePlace& place, const Options& options) {
  bool some = false;
  for (MarkedBlock& block : page.blocks)
    if (block.kind == "run" && !options.not_run.empty() &&
        block.argument.find(options.not_run) != std::string::npos) {
      some = true;  // and taken as it is
    } else if (const std::string lines = fresh_lines(block, place); !lines.empty()) {
      block.fill(lines);
      some = true;
    }
  if (!some) throw InputError(place.name + " has no block of code, runs, measurements or stages");
  return page;
}

/// Prints the first line in which two contents of a block differ.
void report_difference(const MarkedBlock& old, const MarkedBlock& fresh, const std::string& page) {
  std::istringstream old_lines(old.content);
  std::istringstream fresh_lines(fresh.content);
  std::string has;
  std::string should;
  int line = old.line;
  do {
    if (!std::getline(old_lines, has)) has = "(nothing more)";
    if (!std::getline(fresh_lines, should)) should = "(nothing more)";
    ++line;
  } while (has == should);
  std::cout << page << ":" << line << ": the block '" << old.kind << ": " << old.argument
            << "' of line " << old.line << " says\n  " << has << "\nand should say\n  " << should
            << '\n';
}

bool is_fresh(const MarkedText& old, const MarkedText& fresh, const std::string& page) {
  bool same = true;
  for (std::size_t i = 0; i < old.blocks.size(); ++i)
    if (old.blocks[i].content != fresh.blocks[i].content) {
      report_difference(old.blocks[i], fresh.blocks[i], page);
      same = false;
    }
  if (!same) std::cout << "If that is right: build/bin/pages --write " << page << '\n';
  return same;
}

PagePlace place_of(const std::string& file, const Options& options) {
  PagePlace place;
  place.root = fs::canonical(options.root);
  place.programs = fs::read_symlink("/proc/self/exe").parent_path();
  place.page = fs::weakly_canonical(file);
  const bool is_inside = place.page.string().starts_with(place.root.string() + "/");
  place.name = is_inside ? place.page.lexically_relative(place.root).string() : file;
  return place;
}

int run(const Options& options) {
  const auto read = [](const PagePlace& place) {
    return read_marked_blocks(place.name, content_of_input(place.page));
  };
  for (const std::string& file : options.written) {
    const PagePlace place = place_of(file, options);
    const MarkedText old = read(place);
    const std::string fresh = refreshed(old, place, options).text();
    if (fresh != old.text()) OutputFile(place.page).commit(fresh);
  }
  bool all_fresh = true;
  for (const std::string& file : options.checked) {
    const PagePlace place = place_of(file, options);
    const MarkedText old = read(place);
    all_fresh = is_fresh(old, refreshed(old, place, options), place.name) && all_fresh;
    for (const std::string& wrong : wrong_numbers(old, place.name)) {
      std::cout << wrong << '\n';
      all_fresh = false;
    }
  }
  return all_fresh ? 0 : 1;
}

/// By hand: CLI11 would take longer to compile than all the rest.
Options options_of(const std::vector<std::string>& arguments) {
  Options options;
  std::vector<std::string>* files = nullptr;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--write")
      files = &options.written;
    else if (arguments[i] == "--check")
      files = &options.checked;
    else if (arguments[i] == "--without-runs-of" && i + 1 < arguments.size())
      options.not_run = arguments[++i];
    else if (arguments[i] == "--root" && i + 1 < arguments.size())
      options.root = arguments[++i];
    else if (files != nullptr)
      files->push_back(arguments[i]);
    else
      throw InputError("'" + arguments[i] + "' is no option");
  }
  if (options.written.empty() && options.checked.empty())
    throw InputError("say --write FILE... or --check FILE...");
  return options;
}

int complain(const std::string& message, int status) {
  std::cout.flush();
  std::cerr << "pages: " << one_line(message) << '\n';
  return status;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  try {
    return paged::run(paged::options_of({argv + 1, argv + argc}));
  } catch (const paged::InputError& error) {
    return paged::complain(error.what(), 2);
  } catch (const std::exception& error) {
    return paged::complain(error.what(), 1);
  }
}
