#include "walkthroughs/labs/symbol_rules.h"

#include "walkthroughs/labs/limited_process.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace paged::labs {
namespace {

const char* const kKeepsData =
    "it has variables of its own that are not __shared__: what is kept in them is not counted";
constexpr std::size_t kMostOutput = std::size_t{4} << 20;  // a solution has 40 KB
constexpr std::size_t kLongestName = 2000;  // a pattern is matched by a recursion a character

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
    "|paged_watched_memcpy|strlen|mem(cpy|move|set|cmp)|__mem(cpy|move|set)_chk"
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
const char* const kV1 = "_ZN5paged6lab_v1(12run|16plan_of)_stage_04.*";
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

/// What is not seen is not allowed.
class TooMuch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string output_of(const std::vector<std::string>& command) {
  const ProgramLimits limits{{.cpu_seconds = 10, .memory_bytes = std::size_t{1} << 30}};
  ProcessOutcome outcome = run_limited(command, limits, 10, kMostOutput);
  if (!outcome.succeeded()) throw std::runtime_error(command.front() + " cannot read an object");
  if (outcome.cut) throw TooMuch("it has more, or longer, names than can be looked at");
  return std::move(outcome.output);
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
    if (symbols.back().name.size() > kLongestName)
      throw TooMuch("it has a name of more than " + std::to_string(kLongestName) + " characters");
  }
  return symbols;
}

/// Names in a demangled one that a source may use, the last before its parameters first: "exit",
/// "decode_attention" of paged::decode_attention(void const*).
std::vector<std::string> words_in(const std::string& name) {
  if (name.starts_with("typeinfo")) return {"throw", "typeid", "dynamic_cast"};
  static const std::set<std::string> everywhere = {
      "std",  "paged", "lab",  "__cxx11", "const",  "void",     "char",
      "bool", "int",   "long", "float",   "double", "unsigned", "operator"};
  std::vector<std::string> words;
  std::string word;
  for (const char c : name.substr(0, name.find('(', 1)) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    if (!word.empty() && !everywhere.contains(word)) words.insert(words.begin(), word);
    word.clear();
  }
  return words;
}

/// A function that is called and may not be.
Objection objection_to_call(const std::string& name) {
  static const std::regex atomic("_ZN5paged4simt[0-9]+atomic_.*");
  if (std::regex_match(name, atomic))
    return {
        "atomic operations are not allowed: no lab needs one, and what they read is not counted",
        {"atomicAdd", "atomicSub", "atomicMax", "atomicMin", "atomicExch", "atomicCAS"}};
  return {"it uses " + demangled(name) + ", which a kernel has no need of",
          words_in(demangled(name))};
}

std::vector<Objection> objections_to_symbols(const std::filesystem::path& object, const Lab& lab,
                                             const std::set<std::string>& known) {
  std::vector<Objection> objections;
  for (const auto& [name, type] : symbols_of(object)) {
    const bool undefined = Symbol{name, type}.undefined();
    const bool local = type >= 'a' && type <= 'z' && type != 'u' && type != 'i';
    if (undefined && !known.contains(name) && !may_be_called(name, lab))
      objections.push_back(objection_to_call(name));
    else if ((type == 'd' || type == 'D') && !known.contains(name))
      objections.push_back({kKeepsData, {"static"}});
    else if (!undefined && !local && !may_be_defined(name, type))
      objections.push_back(
          {"it defines " + demangled(name) + ", which could take the place of what is not its own",
           words_in(demangled(name))});
  }
  return objections;
}

/// A line of readelf -SW: "[ 5] name type address offset size entry-size flags ...".
struct Section {
  std::string name;
  std::uint64_t bytes = 0;
  std::string flags;
};

std::vector<Section> sections_of(const std::filesystem::path& object) {
  std::istringstream lines(output_of({"readelf", "-SW", object.string()}));
  std::vector<Section> sections;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end_of_number = line.find(']');
    if (end_of_number == std::string::npos) continue;
    std::istringstream words(line.substr(end_of_number + 1));
    Section section;
    std::string skipped;
    words >> section.name >> skipped >> skipped >> skipped >> std::hex >> section.bytes >>
        skipped >> section.flags;
    sections.push_back(section);
  }
  return sections;
}

/// Of all that is run before main() the one entry that every checked object has: the
/// instrumentation's own, which GCC calls so and which alone needs __tsan_init (the rules on text
/// refuse that name). What a submission adds to the section stands beside it.
bool is_the_instrumentations(const Section& section, const std::vector<Symbol>& symbols) {
  const auto has = [&](const char* name, char type) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const Symbol& s) { return s.name == name && s.type == type; });
  };
  return section.name == ".init_array.00099" && section.bytes == sizeof(void*) &&
         has("_sub_I_00099_0", 't') && has("__tsan_init", 'U');
}

/// Code that the system would run by itself, where the one that is allowed is the
/// instrumentation's; and variables, where threads could keep what nobody counts. __shared__ ones
/// are thread-local (T).
std::string objection_to_sections(const std::filesystem::path& object) {
  const std::vector<Symbol> symbols = symbols_of(object);
  for (const Section& section : sections_of(object)) {
    const std::string& name = section.name;
    for (const char* of_system : {".init", ".fini", ".preinit", ".ctors", ".dtors"})
      if (name.starts_with(of_system) && !is_the_instrumentations(section, symbols))
        return "it has code that runs before or after the program (" + name.substr(0, 40) + ")";
    const bool data = name.starts_with(".bss") || name.starts_with(".data") ||
                      name.starts_with(".lbss") || name.starts_with(".ldata");
    // Of the C++ library's: where a barrier stands, and who catches exceptions.
    const bool of_library = name == ".data.rel.local" || name.starts_with(".data.rel.ro") ||
                            name == ".data.rel.local.DW.ref.__gxx_personality_v0";
    if (data && !of_library && section.bytes > 0 && section.flags.find('T') == std::string::npos)
      return kKeepsData;
  }
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
  try {
    for (const Symbol& symbol : symbols_of(object))
      if (symbol.undefined() && !may_be_called(symbol.name, lab) &&
          !std::regex_match(symbol.name, library))
        return false;
  } catch (const TooMuch&) {
    return false;
  }
  return true;
}

std::vector<Objection> objections_to_object(const std::filesystem::path& object, const Lab& lab,
                                            const std::set<std::string>& known) {
  try {
    std::vector<Objection> objections = objections_to_symbols(object, lab, known);
    if (!objections.empty()) return objections;
    if (const std::string objection = objection_to_sections(object); !objection.empty())
      objections.push_back({objection, {"static"}});
    return objections;
  } catch (const TooMuch& error) {
    return {{error.what(), {}}};
  }
}

}  // namespace paged::labs
