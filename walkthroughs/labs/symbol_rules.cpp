#include "walkthroughs/labs/symbol_rules.h"

#include "walkthroughs/labs/limited_process.h"

#include <cxxabi.h>

#include <cstdlib>
#include <regex>
#include <sstream>
#include <vector>

namespace paged::labs {
namespace {

// Patterns of names as the linker has them.

/// What a submission may leave undefined.
const char* const kCalled =
    // the checker's view of accesses, and dynamic shared memory
    "__tsan_(init|read|write|unaligned|volatile|func|vptr|atomic|mem).*|dynamic_shared"
    // the CPU machine, as far as CUDA's vocabulary uses it
    "|_ZN5paged4simt(10run_launch|11coordinates|13block_barrier|19join_warp_operation|9set_phase|"
    "[0-9]+(atomic|cp_async|mbarrier|bulk|fence|ldmatrix|mma)[a-z_0-9]*)E.*"
    // what a stage states about itself
    "|_ZN5paged(16predict_stage_0[0-9]|19every_type_and_size|23promises_of_every_stage|8shape_of).*"
    "|_ZT[ISV](N5paged10InputErrorE|St13runtime_error)"
    // memory, mathematics, printing
    "|strlen|mem(cpy|move|set|cmp)|__mem(cpy|move|set)_chk"
    "|(exp|exp2|expm1|log|log2|log10|log1p|fmax|fmin|sqrt|cbrt|floor|ceil|trunc|round|rint|"
    "nearbyint|pow|tanh|sinh|cosh|sin|cos|tan|fma|fmod|hypot|erf|ldexp|frexp|scalbn)f?"
    "|printf|__printf_chk|puts|putchar"
    // strings, vectors and errors of the host's part
    "|_Zn[wa]m|_Zd[la]Pvm?|_ZSt[0-9]+__throw_.*|_ZNK?St7__cxx1112basic_string.*"
    "|_ZNK?St13runtime_error.*|_ZNK?St9exception.*|_ZTVN10__cxxabiv1.*"
    "|__cxa_(allocate_exception|free_exception|throw|rethrow|begin_catch|end_catch|guard_acquire|"
    "guard_release|guard_abort|throw_bad_array_new_length|pure_virtual)"
    "|_Unwind_Resume|__gxx_personality_v0|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__tls_get_addr";
/// In stage 5 also stage 4, which is its V1.
const char* const kV1 = "_ZN5paged11cpu_checked(12run|16plan_of)_stage_04.*";
/// What it may define for others: in its own namespace alone.
const char* const kOwn = "_ZNK?5paged3lab.*";
/// What templates and inline functions leave in it.
const char* const kShared = "_Z.*|DW[.]ref[.]__gxx_personality_v0";

bool may_be_called(const std::string& name, const Lab& lab) {
  static const std::regex called(kCalled);
  static const std::regex v1(kV1);
  return std::regex_match(name, called) ||
         (lab.source.starts_with("stage_05") && std::regex_match(name, v1));
}

bool may_be_defined(const std::string& name, char type) {
  static const std::regex own(kOwn);
  static const std::regex shared(kShared);
  switch (type) {
    case 'T':
    case 'D':
    case 'B':
    case 'R':
      return std::regex_match(name, own);
    case 'W':
    case 'V':
    case 'u':
      return std::regex_match(name, shared);
    default:
      return false;
  }
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  if (result.size() > 120) result.resize(120);
  return result;
}

std::string output_of(const std::vector<std::string>& command) {
  const ProcessLimits limits{.cpu_seconds = 10, .memory_bytes = std::size_t{1} << 30};
  const ProcessOutcome outcome = run_limited(command, limits, 10, std::size_t{16} << 20);
  if (!outcome.succeeded())
    throw std::runtime_error("cannot run " + command.front() + ": is binutils installed?");
  return outcome.output;
}

/// A line of nm -P: "name type value size", without the last two where nothing is defined.
struct Symbol {
  std::string name;
  char type = 0;
  bool undefined() const { return type == 'U' || type == 'w' || type == 'v'; }
};

std::vector<Symbol> symbols_of(const std::filesystem::path& object) {
  std::istringstream lines(output_of({"nm", "-P", object.string()}));
  std::vector<Symbol> symbols;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    symbols.emplace_back();
    words >> symbols.back().name >> symbols.back().type;
  }
  return symbols;
}

std::string objection_to_symbols(const std::filesystem::path& object, const Lab& lab,
                                 const std::set<std::string>& known) {
  for (const auto& [name, type] : symbols_of(object)) {
    const bool undefined = Symbol{name, type}.undefined();
    if (undefined && !known.contains(name) && !may_be_called(name, lab))
      return "it uses " + demangled(name) + ", which a kernel has no need of";
    const bool local = type >= 'a' && type <= 'z' && type != 'u' && type != 'i';
    if (!undefined && !local && !may_be_defined(name, type))
      return "it defines " + demangled(name) +
             ", which could take the place of what is not its own";
  }
  return "";
}

/// Sections of code that the system would run by itself. The one that is allowed is the
/// instrumentation's.
std::string objection_to_sections(const std::filesystem::path& object) {
  const std::string sections = output_of({"readelf", "-SW", object.string()});
  std::istringstream words(sections);
  for (std::string word; words >> word;)
    for (const char* name : {".init", ".fini", ".preinit", ".ctors", ".dtors"})
      if (word.starts_with(name) && word != ".init_array.00099")
        return "it has code that runs before or after the program (" + word.substr(0, 40) + ")";
  return "";
}

}  // namespace

std::set<std::string> names_called_by(const std::filesystem::path& object) {
  std::set<std::string> names;
  for (const Symbol& symbol : symbols_of(object))
    if (symbol.undefined()) names.insert(symbol.name);
  return names;
}

bool may_be_the_compilers(const std::filesystem::path& object, const Lab& lab) {
  static const std::regex library("_ZNK?St.*|_ZSt.*|__.*");
  for (const Symbol& symbol : symbols_of(object))
    if (symbol.undefined() && !may_be_called(symbol.name, lab) &&
        !std::regex_match(symbol.name, library))
      return false;
  return true;
}

std::string objection_to_object(const std::filesystem::path& object, const Lab& lab,
                                const std::set<std::string>& known) {
  const std::string objection = objection_to_symbols(object, lab, known);
  return objection.empty() ? objection_to_sections(object) : objection;
}

}  // namespace paged::labs
