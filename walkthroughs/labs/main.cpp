// paged_lab: makes a lab's starter, checks a student's folder, grades many. See README.md.
#include "reference/input_error.h"
#include "tests/harness/counted_noun.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_report.h"
#include "tests/harness/one_line.h"
#include "tests/harness/output_file.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/labs/gpu_time.h"
#include "walkthroughs/labs/gradescope.h"
#include "walkthroughs/labs/grading.h"
#include "walkthroughs/labs/grading_list.h"
#include "walkthroughs/labs/hole.h"
#include "walkthroughs/labs/remembered_result.h"
#include "walkthroughs/labs/source_remarks.h"
#include "walkthroughs/labs/source_rules.h"
#include "walkthroughs/labs/starter.h"
#include "walkthroughs/labs/submission_build.h"
#include "walkthroughs/labs/system_call_filter.h"
#include "walkthroughs/labs/trial_json.h"
#include "walkthroughs/labs/trial_report.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <thread>

namespace paged::labs {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// ---- list, new ------------------------------------------------------------------------------

int list() {
  TextTable table({"lab", "stage", "what it is about"});
  for (const std::string& name : lab_names()) {
    const Lab lab = find_lab(name);
    table.add_row({lab.name, std::to_string(lab.stage), lab.title});
  }
  table.print(std::cout);
  return 0;
}

struct NewOptions {
  std::string lab;
  std::string folder;
  bool solution = false;
};

/// "DIR/kernels/softmax.cuh, lines 60 to 75" of a file with a hole, else its path.
std::string place_of_work(const LabFile& file, const std::string& folder, const std::string& text) {
  const std::string path = folder + "/" + file.path;
  if (file.first.empty()) return path;
  const Hole hole = find_hole(lines_of(text), file);
  return path + ", lines " + std::to_string(hole.opening + 2) + " to " +
         std::to_string(hole.closing);
}

int make_new(const NewOptions& options) {
  const Lab lab = find_lab(options.lab);
  const StarterKind kind = options.solution ? StarterKind::solved : StarterKind::with_hole;
  make_starter(lab, options.folder, kind);
  std::cout << lab.title << "\n\nThe task:\n  " << options.folder << "/TASK.md\n"
            << (lab.has_hole() ? "Your work:\n" : "The mistake is in one of these:\n");
  const std::map<std::string, std::string> texts = starter_files(lab, kind);
  for (const LabFile& file : lab.files)
    std::cout << "  " << place_of_work(file, options.folder, texts.at(file.path)) << '\n';
  std::cout << "Then:\n  bash walkthroughs/lab.sh check " << options.folder << '\n';
  return 0;
}

// ---- check ----------------------------------------------------------------------------------

struct CheckOptions {
  std::string folder;
  std::string lab;
  int hints = 0;
  std::uint64_t seed = 1;
  std::optional<int> seconds_per_run;  ///< in place of the rubric's
  std::optional<std::string> json;
  bool anew = false;
  bool remember_nothing = false;  ///< for `grade`
  bool one_kernel = false;        ///< for tests of what more kernels have nothing to do with
  bool no_gpu = false;
  bool compile_for_gpu = false;
  bool without_rules = false;       ///< for tests of what stands behind the rules
  bool without_text_rules = false;  ///< and behind those on the text
  bool without_filter = false;      ///< and of what holds where a system has no filter
};

bool is_filtered(const CheckOptions& options) {
  return has_system_call_filter() && !options.without_filter;
}

RemoteLimits limits_of(const Lab& lab, bool filtered) {
  RemoteLimits limits;
  limits.process.filtered = filtered;
  limits.process.cpu_seconds = lab.limits.seconds;
  limits.process.memory_bytes = static_cast<std::size_t>(lab.limits.memory_mib) << 20;
  limits.process.file_bytes = std::size_t{kPrintedMiB} << 20;  // what it prints
  limits.seconds = lab.limits.seconds;
  limits.seconds_per_run = lab.limits.seconds_per_run;
  return limits;
}

/// The first line of what a BuildError says, and the rest; or braces that do not match. Of these a
/// compiler says nothing, and names places far behind them, in files that are not the student's.
void note_build_error(const std::string& message, const Submission& submission,
                      TrialOutcome& outcome) {
  const std::size_t end = message.find('\n');
  outcome.note = message.substr(0, end);
  if (end == std::string::npos) return;
  outcome.compiler = message.substr(end + 1);
  for (const OwnLines& own : submission.own_lines)
    if (const std::string braces = unmatched_braces(own.text); !braces.empty()) {
      outcome.note += " (your code in " + own.file + " " + braces + ")";
      outcome.compiler.clear();
    }
}

std::filesystem::path build(const Kit& kit, const Lab& lab, const Submission& submission,
                            const ScratchFolder& scratch, Rules rules, TrialOutcome& outcome) {
  Progress progress("building");
  progress.show(lab.name);
  const auto begin = Clock::now();
  try {
    const std::filesystem::path program = build_submission(kit, lab, submission, scratch, rules);
    outcome.build_seconds = seconds_since(begin);
    return program;
  } catch (const BuildError&) {
    outcome.build_seconds = seconds_since(begin);
    throw;
  }
}

/// Its author and a course's lecturer get to see the beginning of what a kernel prints.
std::string beginning_of(std::string printed) {
  constexpr std::size_t kMost = std::size_t{kShownKiB} * 1024;
  return printed.size() <= kMost ? printed
                                 : printed.substr(0, kMost) + "\n(and " +
                                       counted(printed.size() - kMost, "more byte") + ")\n";
}

/// What it printed on the case that failed; all of it if that is nothing, or nothing failed.
std::string shown_of(const std::string& printed, std::uint64_t before) {
  if (before == 0 || before >= printed.size()) return beginning_of(printed);
  return "(on the case that failed; before it " + counted(before, "byte") + ")\n" +
         beginning_of(printed.substr(before));
}

void try_program(const std::filesystem::path& program, const ScratchFolder& scratch, const Lab& lab,
                 const std::vector<OwnLines>& own, const CheckOptions& options,
                 TrialOutcome& outcome) {
  const bool filtered = is_filtered(options);
  outcome.shut_off = filtered;
  const std::filesystem::path printed = scratch.path() / "printed";
  Progress progress("checking");
  const auto begin = Clock::now();
  try {
    RemoteDevice device(Backend::cpu, program, printed, limits_of(lab, filtered));
    try_on(device, lab, own, options.seed, outcome,
           [&](const std::string& what) { progress.show(what); });
    outcome.by_chance = device.is_by_chance();
  } catch (const SubmissionEnded& error) {
    outcome.note = error.what();  // before it did anything
    outcome.by_chance = true;
  }
  outcome.check_seconds = seconds_since(begin);
  outcome.printed = shown_of(content_of_input(printed), outcome.printed_before);
}

std::string compiled_for_gpu(const Kit& kit, const Lab& lab, const Submission& submission) {
  if (kit.cuda.empty()) return "not compiled for a GPU: this build is without CUDA";
  try {
    const ScratchFolder scratch;
    build_for_gpu(kit, lab, submission, scratch);
    return "it compiles for a GPU, too";
  } catch (const BuildError& error) {
    return std::string("for a GPU ") + error.what();
  }
}

/// Compiles and tries it, or finds that it was done before.
TrialOutcome outcome_for(const Kit& kit, const Lab& lab, const Submission& submission, Rules rules,
                         const CheckOptions& options) {
  const RememberedResult memory(
      options.folder, kit, lab, submission,
      std::to_string(options.seed) + " " + std::to_string(lab.limits.seconds_per_run) + " " +
          (options.without_rules ? "r" : "") + (options.without_text_rules ? "t" : "") +
          (is_filtered(options) ? "f" : "") + (options.one_kernel ? "o" : ""));
  if (!options.anew && !options.remember_nothing)
    if (std::optional<TrialOutcome> known = memory.read()) {
      known->submission = options.folder;  // as it is spelt now
      return *known;
    }
  TrialOutcome outcome = untried(lab, options.folder);
  const ScratchFolder scratch;
  try {
    const std::filesystem::path program = build(kit, lab, submission, scratch, rules, outcome);
    try_program(program, scratch, lab, submission.own_lines, options, outcome);
  } catch (const BuildError& error) {
    note_build_error(error.what(), submission, outcome);
    outcome.by_chance = error.because == BuildError::Because::by_chance;
  }
  if (!options.remember_nothing) memory.write(outcome);
  return outcome;
}

int check(const CheckOptions& options) {
  const std::filesystem::path folder = options.folder;
  if (!std::filesystem::is_directory(folder))
    throw InputError("'" + options.folder + "' is no folder");
  Lab lab = find_lab(options.lab.empty() ? lab_of_folder(folder) : options.lab);
  if (options.seconds_per_run) lab.limits.seconds_per_run = *options.seconds_per_run;
  if (options.one_kernel) lab.instances = InstanceList::mutant;
  const Rules rules = options.without_rules        ? Rules::off
                      : options.without_text_rules ? Rules::on_symbols_alone
                                                   : Rules::on;
  JsonFile json(options.json);
  TrialOutcome outcome = untried(lab, options.folder);
  const Kit kit = read_kit();
  Submission submission;
  try {
    submission = read_submission(lab, folder, rules);
    outcome = outcome_for(kit, lab, submission, rules, options);
  } catch (const InputError& error) {
    outcome.note = error.what();
  }
  outcome.remark = submission.note;
  outcome.untouched = submission.untouched;
  outcome.other_lab = other_lab_of_folder(folder, lab);
  json.write(json_of(outcome));
  if (!json.takes_standard_output()) print(std::cout, lab, outcome, options.hints);
  const bool full = outcome.score() == outcome.max_score();
  if (options.compile_for_gpu) std::cout << compiled_for_gpu(kit, lab, submission) << '\n';
  if (full && !options.no_gpu && !json.takes_standard_output())
    std::cout << gpu_times(kit, lab, submission) << '\n';
  return full ? 0 : 1;
}

// ---- grade ----------------------------------------------------------------------------------

struct GradeOptions {
  std::vector<std::string> folders;
  std::string lab;
  std::uint64_t seed = 1;
  std::optional<int> seconds_per_run;
  bool one_kernel = false;
  int jobs = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  std::optional<std::string> json;
  std::optional<std::string> gradescope;
};

/// Gradescope's files, before anything is graded: one that cannot be written is no result of hours.
/// One submission: the file itself. Several: a folder of files, each named after its submission.
std::vector<OutputFile> gradescope_files(const std::string& target,
                                         const std::vector<std::string>& submissions) {
  if (submissions.size() == 1) return {OutputFile(target)};
  if (target.ends_with(".json"))
    throw InputError("'" + target + "' is to be a folder, as there are " +
                     std::to_string(submissions.size()) +
                     " submissions: give it a name without .json, or grade one");
  std::error_code error;
  std::filesystem::create_directories(target, error);
  if (error) throw InputError("cannot make the folder '" + target + "': " + error.message());
  std::vector<OutputFile> files;
  for (const std::string& submission : submissions)
    files.emplace_back(std::filesystem::path(target) / (name_of_submission(submission) + ".json"));
  return files;
}

/// Files are named after the last part of a path: two of one name would be one file.
void refuse_equal_names(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> by_name;
  for (const std::string& folder : folders)
    if (const auto [first, is_new] = by_name.emplace(name_of_submission(folder), folder); !is_new)
      throw InputError("'" + first->second + "' and '" + folder + "' would both write " +
                       first->first +
                       ".json; name the folders differently, or grade them one by one");
}

int grade_all(const GradeOptions& options) {
  if (options.gradescope && options.folders.size() > 1) refuse_equal_names(options.folders);
  if (!options.lab.empty()) find_lab(options.lab);
  GradingRequest request;
  for (const std::string& folder : options.folders) {
    if (!std::filesystem::exists(std::filesystem::symlink_status(folder)))
      throw InputError("there is no '" + folder + "' to grade");
    request.submissions.emplace_back(folder);
  }
  request.lab = options.lab;
  request.seed = options.seed;
  request.seconds_per_run = options.seconds_per_run;
  request.one_kernel = options.one_kernel;
  request.jobs = options.jobs;
  JsonFile json(options.json);
  std::vector<OutputFile> gradescope;
  if (options.gradescope) gradescope = gradescope_files(*options.gradescope, options.folders);
  read_kit();
  const bool quiet = json.takes_standard_output();
  const std::vector<std::string> names = listed_names(options.folders);
  std::size_t listed = 0;              // they come in the order in which they were named
  std::vector<nlohmann::json> others;  // that were handed in for another lab, as it seems
  bool shut_off = true;
  bool ran = false;
  const std::vector<nlohmann::json> trials =
      grade("/proc/self/exe", request, [&](const nlohmann::json& trial) {
        if (trial.at("check_seconds") > 0) {
          ran = true;
          shut_off = shut_off && trial.at("shut_off").get<bool>();
        }
        if (!trial.at("other_lab").get<std::string>().empty()) others.push_back(trial);
        const std::string& name = names[listed++];
        if (!quiet) std::cout << entry_of(trial, name, width_of(names)) << std::flush;
      });
  json.write({{"submissions", trials}});
  for (std::size_t i = 0; i < gradescope.size(); ++i)
    gradescope[i].commit(gradescope_of(trials[i]).dump(2) + "\n");
  if (!others.empty()) std::cerr << warning_about(others, trials.size());
  if (ran && !shut_off)
    std::cerr
        << "paged_lab: this system has no system-call filter (seccomp): submissions could open "
           "files, start processes and use the network, if it is not taken away\n";
  return 0;
}

// ---- the command line -----------------------------------------------------------------------

void add_seconds_per_run(CLI::App& command, std::optional<int>& seconds) {
  command.add_option("--seconds-per-run", seconds, "of the kernel, in place of the rubric's limit")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
}

void add_list_and_read(CLI::App& program, int& status) {
  program.add_subcommand("list", "The labs there are")->callback([&] { status = list(); });

  auto* command = program.add_subcommand("read", "Say what is wrong with a lab's file");
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "NAME.json")->required();
  command->callback([file] { read_lab(*file); });
  command->group("");
}

void add_new(CLI::App& program, int& status) {
  auto* const command = program.add_subcommand("new", "Make a lab's starter in a new folder");
  auto made = std::make_shared<NewOptions>();
  command->add_option("LAB", made->lab, "name or number of a lab")->required();
  command->add_option("DIR", made->folder, "a new folder")->required();
  command->add_flag("--solution", made->solution, "with the source's own solution, for lecturers");
  command->callback([made, &status] { status = make_new(*made); });
}

void add_check(CLI::App& program, int& status) {
  auto* const command =
      program.add_subcommand("check", "Build a folder, try it, explain what fails");
  auto checked = std::make_shared<CheckOptions>();
  command->add_option("DIR", checked->folder, "the folder")->required();
  command->add_option("--lab", checked->lab, "in place of the one that its lab.txt names")
      ->type_name("LAB");
  command->add_option("--hint", checked->hints, "also print so many hints")
      ->check(CLI::Range(1, 4))
      ->type_name("1|2|3|4");
  command->add_option("--seed", checked->seed, "of the generated cases")->capture_default_str();
  command->add_option("--json", checked->json, "also write the result; - is standard output")
      ->type_name("FILE");
  add_seconds_per_run(*command, checked->seconds_per_run);
  command->add_flag("--without-rules", checked->without_rules)->group("");
  command->add_flag("--without-text-rules", checked->without_text_rules)->group("");
  command->add_flag("--without-filter", checked->without_filter)->group("");
  command->add_flag("--one-kernel", checked->one_kernel)->group("");
  command->add_flag("--remember-nothing", checked->remember_nothing)->group("");
  command->add_flag("--compile-for-gpu", checked->compile_for_gpu,
                    "compile it for a GPU, too, whether there is one or not");
  command->add_flag("--anew", checked->anew,
                    "try it even if nothing has changed since the last check");
  command->add_flag("--no-gpu", checked->no_gpu, "measure nothing on a GPU");
  command->callback([checked, &status] { status = check(*checked); });
}

void add_grade(CLI::App& program, int& status) {
  auto* const command = program.add_subcommand("grade", "Grade one or many folders");
  auto graded = std::make_shared<GradeOptions>();
  command->add_option("DIR", graded->folders, "folders of submissions")->required();
  command->add_option("--lab", graded->lab, "in place of those that their lab.txt name")
      ->type_name("LAB");
  command->add_option("--seed", graded->seed, "of the generated cases")->capture_default_str();
  add_seconds_per_run(*command, graded->seconds_per_run);
  command->add_flag("--one-kernel", graded->one_kernel)->group("");
  command->add_option("--jobs", graded->jobs, "how many at a time")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", graded->json, "also write all results; - is standard output")
      ->type_name("FILE");
  command
      ->add_option("--gradescope", graded->gradescope,
                   "write Gradescope's results.json; for several submissions, into this folder")
      ->type_name("FILE|FOLDER");
  command->callback([graded, &status] { status = grade_all(*graded); });
}

void add_commands(CLI::App& program, int& status) {
  program.require_subcommand(1);
  add_list_and_read(program, status);
  add_new(program, status);
  add_check(program, status);
  add_grade(program, status);
}

}  // namespace
}  // namespace paged::labs

int main(int argc, char** argv) {
  CLI::App program("Labs: write what is missing in a kernel, or find what is wrong in one.");
  program.name("lab.sh");
  program.footer(
      "Exit status: 0 full points, or graded; 1 not all points, or something failed; 2 the request "
      "was wrong.");
  const auto complain = [](const std::string& message, int status) {
    std::cout.flush();
    std::cerr << "lab.sh: " << paged::one_line(message) << '\n';
    return status;
  };
  int status = 0;
  try {
    paged::labs::add_commands(program, status);
    program.parse(argc, argv);
    return status;
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> commands = program.get_subcommands();
    std::cout << (commands.empty() ? &program : commands.front())->help();
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(error.what() + std::string("; lab.sh --help shows what there is"), 2);
  } catch (const paged::InputError& error) {
    return complain(error.what(), 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 1);
  }
}
