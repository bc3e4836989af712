#!/usr/bin/env bash
# Each file includes what it names, itself or through our headers that it includes: most files are compiled together
# with others or behind a precompiled header, where an include that one forgot goes unseen until somebody compiles it
# alone. To compile each of them alone would take minutes; this takes a second and looks for names: of the standard
# library's headers, and of types and constants that one header of ours defines. Functions, macros and names that a
# file gives to something of its own, too, are not looked at.
# Prints every name that has no include, and fails if there is one.
# Usage: includes_of_its_own.sh ROOT
set -euo pipefail
cd "$1"
export LC_ALL=C

mapfile -t files < <(find reference kernels stages tests walkthroughs \
  \( -name '*.h' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.cu' \) -print 2>/dev/null | sort)
[ "${#files[@]}" -gt 0 ] || {
  echo "no sources in $PWD: nothing was looked at" >&2
  exit 1
}
awk '
  # "names: headers": any of these headers will do.
  function provide(names, headers,    list, i, n) {
    n = split(names, list, " ")
    for (i = 1; i <= n; ++i) provider["std::" list[i]] = " " headers " "
  }
  BEGIN {
    provide("string to_string stoi stod getline", "string")
    provide("string_view", "string_view string")
    provide("vector", "vector")
    provide("array", "array")
    provide("map multimap", "map")
    provide("set multiset", "set")
    provide("unordered_map", "unordered_map")
    provide("unordered_set", "unordered_set")
    provide("deque", "deque")
    provide("tuple tie", "tuple")
    provide("variant visit get_if holds_alternative", "variant")
    provide("optional nullopt", "optional")
    provide("function", "functional")
    provide("span", "span")
    provide("unique_ptr shared_ptr make_unique make_shared", "memory")
    provide("pair make_pair exchange swap move forward declval", \
            "utility algorithm vector map memory string functional optional tuple")
    provide("int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t", "cstdint")
    provide("byte", "cstddef")
    provide("numeric_limits", "limits")
    provide("atomic atomic_ref memory_order_relaxed", "atomic")
    provide("mutex lock_guard unique_lock", "mutex")
    provide("shared_mutex shared_lock", "shared_mutex")
    provide("condition_variable", "condition_variable")
    provide("thread", "thread")
    provide("bit_cast popcount countr_zero countl_zero bit_width bit_ceil", "bit")
    provide("ifstream ofstream", "fstream")
    provide("ostream", "ostream iosfwd iostream fstream sstream")
    provide("istringstream ostringstream stringstream", "sstream")
    provide("cout cerr", "iostream")
    provide("runtime_error invalid_argument logic_error out_of_range", "stdexcept")
    provide("exception", "exception stdexcept")
    provide("errc error_code", "system_error filesystem")
    provide("min max sort stable_sort find find_if any_of all_of none_of count_if copy_if transform max_element " \
            "min_element fill replace remove_if upper_bound lower_bound clamp reverse equal", "algorithm")
    provide("iota accumulate", "numeric")
    provide("sqrt exp log log2 exp2 isnan isfinite isinf abs fabs ldexp nextafter fma expm1 lround", "cmath cstdlib")
    provide("memcpy memcmp memset strcmp strerror", "cstring")
    provide("printf fprintf snprintf fopen fflush FILE", "cstdio")
    provide("getenv strtod strtol strtoull abort exit", "cstdlib")
    provide("setw setprecision", "iomanip")
  }
  FNR == 1 {
    file = FILENAME
    files[++num_files] = file
    in_block = in_raw = 0
  }
  {
    line = $0
    # Comments and literals name nothing.
    if (in_raw) {
      if (!match(line, /\)"/)) next
      line = substr(line, RSTART + 2)
      in_raw = 0
    }
    if (in_block) {
      if (!match(line, /\*\//)) next
      line = substr(line, RSTART + 2)
      in_block = 0
    }
    if (match(line, /^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]*[">]/)) {
      split(line, part, /["<>]/)
      if (line ~ /</) system_of[file] = system_of[file] " " part[2]
      else own_of[file] = own_of[file] " " part[2]
      next
    }
    if (match(line, /R"\(/)) {
      after = substr(line, RSTART + 3)
      line = substr(line, 1, RSTART - 1)
      if (match(after, /\)"/)) line = line substr(after, RSTART + 2)
      else in_raw = 1
    }
    gsub(/\\["\\]/, "", line)
    gsub(/"[^"]*"/, "\"\"", line)
    sub(/\/\/.*/, "", line)
    gsub(/\/\*[^*]*\*\//, "", line)
    if (match(line, /\/\*/)) {
      line = substr(line, 1, RSTART - 1)
      in_block = 1
    }
    sub(/^(TEST|TEST_F|TEST_P)\([^)]*\)|^INSTANTIATE_TEST_SUITE_P\([A-Za-z0-9]*,/, "", line)
    # Definitions, of a type or a constant, that stand at the left: not members.
    if (match(line, /^(struct|class|enum class|enum|union) (alignas\([^)]*\) )?[A-Z][A-Za-z0-9]*/)) {
      n = split(substr(line, RSTART, RLENGTH), part, " ")
      if (line !~ /;[[:space:]]*$/ || line ~ /\{/) define(part[n])
      else declared[file, part[n]] = 1
    } else if (match(line, /^using [A-Z][A-Za-z0-9]* =/)) {
      split(line, part, " ")
      define(part[2])
    } else if (match(line, /^(inline )?constexpr [A-Za-z0-9_:<>,* ]* k[A-Z][A-Za-z0-9]*/)) {
      n = split(substr(line, RSTART, RLENGTH), part, " ")
      define(part[n])
    }
    # Names that are used: each with the first line.
    rest = line
    previous = ""
    while (match(rest, /(std::|std::filesystem::)?[A-Za-z_][A-Za-z0-9_]*/)) {
      word = substr(rest, RSTART, RLENGTH)
      before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
      before2 = RSTART > 2 ? substr(rest, RSTART - 2, 2) : ""
      rest = substr(rest, RSTART + RLENGTH)
      # Behind a type stands a name of the file itself: a member, a local constant, a parameter of a template.
      if (previous != "" && substr(line, last_end, length(line) - length(rest) - length(word) - last_end + 1) ~ /^ *$/ &&
          previous !~ /^(return|const|constexpr|static|inline|new|case|throw|else|friend|mutable|virtual|explicit|public|private|protected|using|operator|thread_local|delete)$/)
        declared[file, word] = 1
      previous = word
      last_end = length(line) - length(rest) + 1
      if (before == "." || before2 == "->") continue
      if (before2 == "::" && word !~ /^std::/) continue
      if (word ~ /^std::/ || word ~ /^[A-Z]/ || word ~ /^k[A-Z]/) {
        if (!((file, word) in used)) {
          used[file, word] = FNR
          words_of[file] = words_of[file] " " word
        }
      }
    }
  }
  function define(name) {
    if ((file, name) in defined) return
    defined[file, name] = 1
    if (file !~ /\.(h|cuh)$/) return
    if (name in home) several[name] = 1
    home[name] = file
  }
  # All of our headers that a file gets, in reached[]; all of the system that they include, in systems[].
  function reach(path,    list, i, n) {
    if (path in reached) return
    reached[path] = 1
    n = split(system_of[path], list, " ")
    for (i = 1; i <= n; ++i) systems[list[i]] = 1
    n = split(own_of[path], list, " ")
    for (i = 1; i <= n; ++i) reach(list[i])
  }
  function has_any(headers,    list, i, n) {
    n = split(headers, list, " ")
    for (i = 1; i <= n; ++i) if (list[i] in systems) return 1
    return 0
  }
  function complain(path, word, what) {
    print path ":" used[path, word] ": " word " needs " what
    ++wrong
  }
  END {
    for (f = 1; f <= num_files; ++f) {
      path = files[f]
      split("", reached)
      split("", systems)
      reach(path)
      n = split(words_of[path], words, " ")
      for (w = 1; w <= n; ++w) {
        word = words[w]
        if (word in provider) {
          if (!has_any(provider[word])) {
            split(provider[word], first, " ")
            complain(path, word, "<" first[1] ">")
          }
        } else if ((word in home) && !(word in several) && !((path, word) in defined) &&
                   !((path, word) in declared) && !(home[word] in reached)) {
          complain(path, word, "\"" home[word] "\"")
        }
      }
    }
    if (wrong) {
      print wrong " names lack their include"
      exit 1
    }
    print "all names have their includes"
  }' "${files[@]}"
