#include "walkthroughs/labs/submission_build.h"

#include "walkthroughs/labs/call_rules.h"
#include "walkthroughs/labs/limited_process.h"
#include "walkthroughs/labs/starter.h"
#include "walkthroughs/labs/symbol_rules.h"

#include <cstdlib>
#include <regex>

namespace paged::labs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCompilerOutput = std::size_t{kCompilerMessageKiB} * 1024;
constexpr std::size_t kMiB = std::size_t{1} << 20;

ProgramLimits limits_of_compiler(const Lab& lab) {
  return {{.cpu_seconds = lab.limits.compile_seconds,
           .memory_bytes = kCompilerMiB * kMiB,
           .file_bytes = 128 * kMiB}};
}

/// Stage 5 takes stage 4 for V1: the right one, which the program is linked with.
const char* const kUnitOfV1 = R"(namespace paged::lab_v1 {
void run_stage_04(const paged_decode_args& args);
LaunchPlan plan_of_stage_04(const DecodeShape& shape);
}
namespace paged::lab {
void run_stage_04(const paged_decode_args& args) { lab_v1::run_stage_04(args); }
LaunchPlan plan_of_stage_04(const DecodeShape& shape) { return lab_v1::plan_of_stage_04(shape); }
}
)";

bool needs_v1(const Lab& lab) { return lab.source.starts_with("stage_05"); }

/// The file that is compiled: includes the stage, and with it the submission's files in place of
/// the repository's.
std::string unit_text(const Lab& lab) {
  // The command line has the list that the precompiled vocabulary was made with.
  std::string text = std::string("#undef PAGED_INSTANCES\n#define PAGED_INSTANCES ") +
                     name_of(lab.instances) + "\n#include \"stages/stage.h\"\n";
  if (needs_v1(lab)) text += kUnitOfV1;
  return text + "#include \"stages/" + lab.source +
         ".cu\"\n"
         "namespace paged::lab {\n"
         "void run_kernel(const paged_decode_args& args);\n"
         "void run_kernel(const paged_decode_args& args) { " +
         lab.source +
         "().run(args); }\n"
         "}\n";
}

using SourceFiles = std::map<std::string, std::string>;

void write_sources(const SourceFiles& files, const fs::path& folder) {
  for (const auto& [path, text] : files) write_text(folder / path, text);
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// What the compiler said, with the paths that a student knows.
std::string shown(std::string output, const fs::path& scratch, const Kit& kit) {
  for (const std::string& prefix : {scratch.string() + "/", kit.root + "/"})
    for (std::size_t at = 0; (at = output.find(prefix, at)) != std::string::npos;)
      output.erase(at, prefix.size());
  if (output.size() > kMostCompilerOutput)
    output = output.substr(0, kMostCompilerOutput) + "\n...\n";
  return output;
}

/// Whether a compiler objects to a place in a source. What it says of memory, of the disk, of a
/// limit or of a part of itself that fails has no line and column.
bool objects_to_source(const std::string& output) {
  static const std::regex place(":[0-9]+:[0-9]+: (fatal )?error: ");
  return std::regex_search(output, place);
}

void run_compiler(const std::vector<std::string>& command, const Lab& lab, const fs::path& scratch,
                  const Kit& kit) {
  const ProcessOutcome outcome =
      run_limited(command, limits_of_compiler(lab), lab.limits.compile_seconds);
  if (outcome.succeeded()) return;
  if (outcome.timed_out)
    throw BuildError("compiling did not come to an end within " +
                         std::to_string(lab.limits.compile_seconds) + " s",
                     BuildError::Because::by_chance);
  throw BuildError("it does not compile\n" + shown(outcome.output, scratch, kit),
                   objects_to_source(outcome.output) ? BuildError::Because::of_sources
                                                     : BuildError::Because::by_chance);
}

/// Beside an object, the compiler's list of its calls.
fs::path calls_of(const fs::path& object) { return fs::path(object).replace_extension("calls"); }

/// Compiles the stage with these files in place of the repository's. Returns the object.
fs::path compile_files(const SourceFiles& files, const Kit& kit, const Lab& lab,
                       const fs::path& folder) {
  write_sources(files, folder);
  const fs::path unit = folder / "kernel.cpp";
  const fs::path object = folder / "kernel.o";
  write_text(unit, "#include \"kernels/simt/watched_copies.h\"\n" + unit_text(lab));
  std::vector<std::string> command = {kit.compile.front(), "-I" + folder.string()};
  command.insert(command.end(), kit.compile.begin() + 1, kit.compile.end());
  // How the stage came to instantiate the kernel is not what a student looks for.
  append(command,
         {"-w", "-fmax-errors=5", "-ftemplate-backtrace-limit=1", "-fdiagnostics-color=never",
          option_that_lists_calls(calls_of(object)), "-c", unit.string(), "-o", object.string()});
  run_compiler(command, lab, folder, kit);
  return object;
}

/// What is told: of several objections the first that has a place in the submission's own code.
[[noreturn]] void refuse(const std::vector<Objection>& objections, const Submission& submission) {
  for (const Objection& objection : objections)
    if (const std::string place = place_of_word(submission, objection.words); !place.empty())
      throw BuildError(place + objection.text);
  throw BuildError(objections.front().text);
}

/// Compilers differ in what they leave to the C++ library. So before anything is held against a
/// submission, the source's own solution is compiled: what that calls, a submission may call.
void hold_to_rules(const fs::path& object, const Submission& submission, const Kit& kit,
                   const Lab& lab, const ScratchFolder& scratch) {
  const std::vector<Objection> first = objections_to_object(object, lab);
  if (!first.empty() && !may_be_the_compilers(object, lab)) refuse(first, submission);
  const std::vector<Objection> unseen = objections_to_calls(calls_of(object));
  if (first.empty() && unseen.empty()) return;
  const fs::path solved =
      compile_files(starter_files(lab, StarterKind::solved), kit, lab, scratch.path() / "solved");
  for (const std::vector<Objection>& objections :
       {objections_to_object(object, lab, names_called_by(solved)),
        objections_to_calls(calls_of(object), calls_of(solved))})
    if (!objections.empty()) refuse(objections, submission);
}

/// How the linker has run_kernel() of unit_text(): all that others may know of a submission.
const char* const kEntryPoint = "_ZN5paged3lab10run_kernelERK17paged_decode_args";

/// Makes everything else that an object defines its own, so that nothing takes the place of a
/// function of the process, and puts watched functions in place of those that copy.
fs::path with_one_name(const fs::path& object, const Kit& kit, const Lab& lab,
                       const ScratchFolder& scratch) {
  const fs::path joined = scratch.path() / "joined.o";
  const fs::path closed = scratch.path() / "closed.o";
  // Groups are sections that the linker merges with those of other files by their names.
  run_compiler({kit.compile.front(), "-r", "-nostdlib", "-Wl,--force-group-allocation",
                object.string(), "-o", joined.string()},
               lab, scratch.path(), kit);
  std::vector<std::string> command = {"objcopy", "--keep-global-symbol", kEntryPoint};
  for (const std::string name : {"memcpy", "memmove", "memset", "memcmp", "strlen", "__memcpy_chk",
                                 "__memmove_chk", "__memset_chk"})
    append(command, {"--redefine-sym", name + "=paged_watched_" + name});
  append(command, {joined.string(), closed.string()});
  run_compiler(command, lab, scratch.path(), kit);
  return closed;
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string name = (fs::temp_directory_path() / "paged_lab_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make a folder for the build in " +
                             fs::temp_directory_path().string());
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

fs::path build_submission(const Kit& kit, const Lab& lab, const Submission& submission,
                          const ScratchFolder& scratch, Rules rules) {
  const fs::path object = compile_files(submission.files, kit, lab, scratch.path());
  if (rules != Rules::off) hold_to_rules(object, submission, kit, lab, scratch);
  const fs::path program = scratch.path() / "kernel_process";
  std::vector<std::string> command = {kit.compile.front(),
                                      with_one_name(object, kit, lab, scratch).string(), "-o",
                                      program.string()};
  if (needs_v1(lab)) command.push_back(kit.v1);
  append(command, kit.link);
  run_compiler(command, lab, scratch.path(), kit);
  return program;
}

fs::path build_for_gpu(const Kit& kit, const Lab& lab, const Submission& submission,
                       const ScratchFolder& scratch) {
  const fs::path folder = scratch.path() / "cuda";
  write_sources(submission.files, folder);
  const fs::path unit = folder / "kernel.cu";
  const fs::path program = folder / "kernel_process";
  write_text(unit, unit_text(lab));
  std::vector<std::string> command = {kit.cuda.front(), "-I" + folder.string()};
  command.insert(command.end(), kit.cuda.begin() + 1, kit.cuda.end());
  append(command, {"-w", unit.string(), "-o", program.string()});
  if (needs_v1(lab)) command.push_back(kit.cuda_v1);
  append(command, kit.cuda_link);
  run_compiler(command, lab, folder, kit);
  return program;
}

}  // namespace paged::labs
