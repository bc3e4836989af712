#!/usr/bin/env bash
# Ways out of the rules and round the counts that somebody has thought of, each as a submission.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

# hole NAME LAB: a starter with standard input in its hole; $folder is its folder.
folder=""
hole() {
  folder="$work/s/$1"
  "$lab" new "$2" "$folder" >"$work/new"
  fill_hole "$(file_of "$folder")"
}

# within NAME TEXT: the solution of lab 1 with standard input before the kernel's last line.
solution_with() {
  folder="$work/s/$1"
  "$lab" new "${2:-1}" "$folder" --solution >"$work/new"
  cat >"$work/more"
  sed -i "/^ *\/\/ \[\/[a-z-]*\]\$/{
e cat '$work/more'
}" "$(file_of "$folder")"
}

# Leaves the kernel of lab 1, has standard input between it and the rest, and takes that up again.
outside() { # NAME
  solution_with "$1" < <(
    cat <<'CODE'
  __shared__ SoftmaxScratch<kThreads> scratch;
  write_statistics(t, task.seq, task.head, naive_softmax(weights, task.seq_len, scratch));
  scalar_pv<kThreads>(t, task, t.block_size, weights);
}
}  // namespace
}  // namespace paged::lab
CODE
    cat
    echo 'namespace paged::lab {'
    take_up_lab_1
  )
}

line_of_text() { grep -n -- "$2" "$(file_of "$work/early/$1")" | head -n 1 | cut -d: -f1; } # SUBMISSION PATTERN

# ---- code that nobody calls --------------------------------------------------------------------
# glibc's __REDIRECT makes assembly of what it is given. This is a function that makes a file, and
# its address where functions are called before main().
if [ "$(uname -m)" = x86_64 ]; then
  before_main="__REDIRECT(, , .pushsection .init_array.00099; .quad 7f; .popsection; .pushsection .text.other; \
7: call 1f; .asciz \"$work/was_here\"; 1: pop %rdi; push \$85; pop %rax; push \$420; pop %rsi; syscall; \
ret; .popsection);"
  solution_with before_main <<<"$before_main"
fi

# ---- text that is hidden from who reads it -----------------------------------------------------
solution_with hidden_by_literal <<'CODE'
  wchar_t q = L'"'; const char* s = "/*";
  auto f = [] __attribute__((no_sanitize("thread"))) () {};
  const char* e = ""; // */
CODE
solution_with hidden_behind_word <<'CODE'
  auto g = [] { return'"'; }; const char* s = "/*";
  auto f = [] __attribute__((no_sanitize("thread"))) () {};
  const char* e = ""; // */
CODE
solution_with hidden_by_blank <<<'  const char* s = "x\ 
"; asm("nop"); const char* u = "";'
# Long names, and so many that their list cannot be read to its end, before the call that is looked
# for.
hidden_call() { # NAME LENGTH COUNT
  local name
  name=$(head -c "$2" /dev/zero | tr '\0' a)
  outside "$1" <<CODE
namespace paged::lab {
template <int I> void $name() {}
template <int... I> void many(std::integer_sequence<int, I...>) {
  static void (*volatile const all[])() = {&$name<I>...};
  all[0]();
}
inline void hidden() { many(std::make_integer_sequence<int, $3>()); std::system("true"); }
void (*kept)() = &hidden;
}
CODE
}
hidden_call long_names 3000 2
hidden_call many_names 1800 2500

# ---- what is not its own -----------------------------------------------------------------------
# The process's own function, in case the linker takes this one.
outside replaces <<'CODE'
namespace paged::labs {
struct Channel {
  template <typename T> void put(const T& value);
};
template <> inline void Channel::put<double>(const double&) { for (;;) {} }
}
namespace paged::lab {
void keep(labs::Channel& channel) { channel.put(1.0); }
}
CODE

# ---- transactions for nothing ------------------------------------------------------------------
# One element of a key at a time, by a copy whose size the compiler does not know.
hole copies 2 <<'CODE'
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      float dot = 0.0F;
      const std::size_t bytes = sizeof(cache_t) * (t.block_size > 0 ? 1 : 2);
      for (int v = 0; v < Groups::kVectorsPerLane; ++v) {
        const int dim = (v * Groups::kGroupSize + lane_offset) * Groups::kVector;
        for (int i = 0; i < Groups::kVector; i += Groups::kQueryPiece) {
          const auto q = load_vec<Groups::kQueryPiece>(query + dim + i);
          for (int j = 0; j < Groups::kQueryPiece; ++j) {
            cache_t key;
            memcpy(&key, keys + key_offset_in_page(token_in_page, dim + i + j, kBlockSize, Groups::kX), bytes);
            dot += q.elements[j] * to_float(key);
          }
        }
      }
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
CODE
# The same by a copy of a size that is known, and by a structure larger than any vector.
for how in 'struct Large { cache_t x[32]; } large; __builtin_memcpy(\&large, \1, 64); key = large.x[0];' \
  'struct Large { cache_t x[32]; } large; memcpy(\&large, \1, 64); key = large.x[0];' \
  'struct Large { cache_t x[32]; } large = *reinterpret_cast<const Large*>(\1); key = large.x[0];'; do
  number=$((${number:-0} + 1))
  cp -r "$work/s/copies" "$work/s/copies_$number"
  edit "$(file_of "$work/s/copies_$number")" "s/memcpy(&key, \(.*\), bytes);/$how/"
done
# Under its full name; and by another function that the compiler makes a copy in line of, into the
# middle of an array.
cp -r "$work/s/copies" "$work/s/copies_qualified"
edit "$(file_of "$work/s/copies_qualified")" 's/memcpy(&key/std:: memcpy(\&key/'
cp -r "$work/s/copies" "$work/s/copies_in_line"
edit "$(file_of "$work/s/copies_in_line")" '/memcpy(&key/c\
    const int d = dim + i + j;\
    const int more = d % 8 > 5 ? 2 : 0;\
    cache_t six[9];\
    std::uninitialized_copy_n(keys + key_offset_in_page(token_in_page, d / 8 * 8, kBlockSize, Groups::kX) + more, 6, six + (t.block_size > 0));\
    key = six[1 + d % 8 - more];'
# Of two heads that share keys one reads them openly, and the other so.
hole by_value_of_one_head 2 <<'CODE'
      enter_phase(Phase::gather);
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      enter_phase(Phase::qk);
      float dot = 0.0F;
      for (int v = 0; v < Groups::kVectorsPerLane; ++v) {
        const int dim = (v * Groups::kGroupSize + lane_offset) * Groups::kVector;
        float k[Groups::kVector];
        if (task.head == 0) {
          to_floats(load_vec<Groups::kVector>(
            keys + key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)), k);
        } else {
          struct Key { cache_t x; };
          cache_t (*volatile pick)(Key) = [](Key key) -> cache_t { return key.x; };
          for (int i = 0; i < Groups::kVector; ++i)
            k[i] = to_float(pick(*reinterpret_cast<const Key*>(
                keys + key_offset_in_page(token_in_page, dim + i, kBlockSize, Groups::kX))));
        }
        for (int first = 0; first < Groups::kVector; first += Groups::kQueryPiece) {
          const auto q = load_vec<Groups::kQueryPiece>(query + dim + first);
          for (int i = 0; i < Groups::kQueryPiece; ++i) dot += q[i] * k[first + i];
        }
      }
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
CODE
# An object that a call passes, or returns into memory, has no assignment of its own to be watched.
by_value() { # NAME SED: of the copy of one element
  cp -r "$work/s/copies" "$work/s/$1"
  edit "$(file_of "$work/s/$1")" "$2"
}
by_value by_value 's/memcpy(&key, \(.*\), bytes);/struct Key { cache_t x; float pad; }; \
  cache_t (*volatile pick)(Key) = [](Key k) -> cache_t { return k.x; }; key = pick(*reinterpret_cast<const Key*>(\1));/'
by_value by_value_printed 's/memcpy(&key, \(.*\), bytes);/struct Key { cache_t x; float pad; }; \
  key = from_float<cache_t>(printf("%*s", *reinterpret_cast<const Key*>(\1), ""));/'
by_value by_value_shared 's/cache_t key;/struct Pair { float x[2]; }; __shared__ Pair pair; cache_t key = {}; \
  int (*volatile pick)(Pair) = [](Pair p) -> int { return p.x[0] > 0.0F; }; dot += pick(pair);/'
by_value stored_unseen 's/cache_t key;/struct Big { float x[16]; }; Big (*volatile give)() = [] { return Big{}; }; cache_t key; \
  *reinterpret_cast<Big*>(logits) = give();/'
# Of shared memory: what a lane has to read of the query, and of the weights.
number='struct Number { float x; }; float (*volatile pick)(Number) = [](Number n) -> float { return n.x; };'
hole query_by_value 2 <<CODE
      $number
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      float dot = 0.0F;
      for (int v = 0; v < Groups::kVectorsPerLane; ++v) {
        const int dim = (v * Groups::kGroupSize + lane_offset) * Groups::kVector;
        float k[Groups::kVector];
        to_floats(load_vec<Groups::kVector>(keys + key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)), k);
        for (int i = 0; i < Groups::kVector; ++i) dot += pick(*reinterpret_cast<const Number*>(query + dim + i)) * k[i];
      }
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
CODE
solution_with weights_by_value 4 </dev/null
edit "$(file_of "$folder")" "/const Vec<float, 4> four/c\\
$number \\
Vec<float, 4> four; \\
for (int k = 0; k < 4; ++k) four[k] = pick(*reinterpret_cast<const Number*>(weights + token + i + k));"
by_value by_apply 's/memcpy(&key, \(.*\), bytes);/key = apply([](cache_t x, float) { return x; }, \
  *reinterpret_cast<const std::tuple<cache_t, float>*>(\1));/'
# By an index far outside of a local array: a constant one, one that is a member, one that is said to
# be larger than it is. The compiler instruments none of these.
wild() { # NAME DECLARATION ELEMENT: at [at] lies query[dim]
  hole "$1" 2 <<CODE
      const cache_t* keys = t.key_page(t.block_table_of(task.seq)[page], task.kv_head);
      float dot = 0.0F;
      $2
      for (int dim = lane_offset; dim < kHeadSize; dim += Groups::kGroupSize) {
        const long at = query + dim - start;
        dot += $3 * to_float(keys[key_offset_in_page(token_in_page, dim, kBlockSize, Groups::kX)]);
      }
      dot = warp_sum<Groups::kGroupSize>(dot);
      logit = t.scale * (t.k_scale * dot) + t.position_bias(task.head, token, task.seq_len);
CODE
}
wild wild_constant 'static constexpr float own[2] = {1.0F, 2.0F}; const float* start = own;' 'own[at]'
wild wild_member 'struct Own { float x[2]; }; Own own = {{1.0F, 2.0F}}; const float* start = own.x;' 'own.x[at]'
wild wild_type 'float own[2] = {1.0F, 2.0F}; const float* start = own; using Huge = float[1L << 58];' \
  '(*reinterpret_cast<Huge*>(own - (1L << 57)))[(1L << 57) + at]'
# What is local is passed and returned as one likes.
solution_with passes_local <<'CODE'
  struct Pair { float x[4]; };
  Pair (*volatile twice)(Pair) = [](Pair p) { return Pair{{p.x[0] * 2, p.x[1], p.x[2], p.x[3]}}; };
  const Pair pair = twice(Pair{{1.0F, 2.0F, 3.0F, 4.0F}});
  if (pair.x[0] != 2.0F) weights[0] = 0.0F;
CODE
# Known by their sizes, the cases that are counted are not computed at all, or without the barriers
# that they need; the others are right, and wasteful.
wasteful_softmax='  __syncthreads();
  const float maximum = block_max<kThreads>(thread_maximum, scratch.maximum);
  const float shift = maximum == -INFINITY ? 0.0F : maximum;
  float sum = 0.0F;
  for_each_own<kThreads>(tokens, [&](int token) { sum += __expf(weights[token] - shift); });
  __syncthreads();
  sum = block_sum<kThreads>(sum, scratch.sum);
  const float normaliser = __fdividef(1.0F, sum + 1e-6F);
  for_each_own<kThreads>(tokens, [&](int token) { weights[token] = __expf(weights[token] - shift) * normaliser; });
  __syncthreads();
  return {maximum, sum};'
is_counted='tokens == 1100 || (tokens == 64 && gridDim.x == 1)'
hole knows_counted_cases 3 <<CODE
  if ($is_counted) {
    __syncthreads();
    return {0.0F, 1.0F};
  }
$wasteful_softmax
CODE
hole races_when_counted 3 <<CODE
  if ($is_counted) {
    const float most = block_max<kThreads>(thread_maximum, scratch.maximum);
    float all = 0.0F;
    for_each_own<kThreads>(tokens, [&](int token) {
      weights[token] = __expf(weights[token] - most);
      all += weights[token];
    });
    all = block_sum<kThreads>(all, scratch.sum);
    const float factor = __fdividef(1.0F, all + 1e-6F);
    for_each_own<kThreads>(tokens, [&](int token) { weights[token] *= factor; });
    return {most, all};
  }
$wasteful_softmax
CODE
# Without these special cases it has no points for transactions, either.
hole wasteful 3 <<<"$wasteful_softmax"
# Code of the host that looks into the device's memory.
outside host_reads <<'CODE'
namespace paged::lab {
DecodeShape shape_of(const paged_decode_args& args) {
  volatile unsigned char found = *static_cast<const unsigned char*>(args.query);
  return paged::shape_of(args);
}
}
CODE
# What one block keeps for the next where nothing counts.
solution_with keeps <<<'  static volatile float kept[64]; kept[threadIdx.x % 64] = weights[0];'
solution_with keeps_pointers <<<'  static const void* volatile kept[2] = {"", ""}; kept[threadIdx.x % 2] = weights;'

# Behind the rules on the text: code before main() beside the instrumentation's own, in its section.
outside early_print <<'CODE'
namespace paged::lab {
__attribute__((constructor(99))) void early() { printf("early"); }
}
CODE
before_main_is_seen() { # of $folder
  "$lab" check "$folder" --without-text-rules --one-kernel --no-gpu >"$work/said" || true
  grep -qF 'it has code that runs before or after the program (.init_array.00099)' "$work/said" ||
    complain "$folder: code before main() is not seen: $(cat "$work/said")"
}
before_main_is_seen
if [ "$(uname -m)" = x86_64 ]; then
  folder="$work/s/before_main"
  before_main_is_seen
fi
rm -r "$work/s/early_print"

# Folders that no lab is known of must not end the grading of the others.
mkdir "$work/s/nameless" "$work/s/unknown"
echo no_such_lab >"$work/s/unknown/lab.txt"
echo "a note" >"$work/s/stray.txt"
echo "not unpacked" >"$work/s/a_file.zip"$'\n'

# These are stopped before, or at, the first run of a kernel.
mkdir "$work/early"
for name in before_main hidden_by_literal hidden_behind_word hidden_by_blank long_names many_names host_reads \
  keeps keeps_pointers copies_1 copies_2 copies_qualified copies_in_line by_value_of_one_head by_value by_value_printed \
  by_value_shared stored_unseen by_apply query_by_value weights_by_value wild_constant wild_member wild_type; do
  [ ! -d "$work/s/$name" ] || mv "$work/s/$name" "$work/early"
done
grade "$work"/early/* --one-kernel --seconds-per-run 3
cp "$work/grades" "$work/grades_early"
grade "$work"/s/* --seconds-per-run 3 --json "$work/json"
cat "$work/grades_early" >>"$work/grades"
expect replaces '^100 of 100 '
if [ -n "${before_main:-}" ]; then
  expect before_main "^  0 of 100 .*names of the system's .*__REDIRECT"
fi
expect hidden_by_literal '^  0 of 100 .*line [0-9]+: a submission may not use a literal right behind a word'
expect hidden_behind_word '^  0 of 100 .*may not use a literal right behind a word'
expect hidden_by_blank '^  0 of 100 .*may not use a backslash at the end of a line'
expect long_names '^  0 of 100 +long_names +it has a name of more than 2000 characters'
expect many_names '^  0 of 100 +many_names +it has more, or longer, names than can be looked at'
expect copies '^ 70 of 100 .*transactions: global load'
expect copies_1 "^  0 of 100 .*may not use what is inside of .*__builtin_memcpy"
expect copies_2 '^  0 of 100 .*at thread_group_qk.cuh:95 '
expect copies_3 '^ 70 of 100 .*transactions: global load'
expect copies_qualified "^  0 of 100 .*may not use what copies or looks at memory unseen .'std::memcpy'"
expect copies_in_line '^  0 of 100 .*it copies memory where nothing sees it: use a loop, an assignment or memcpy'
# Nor would what had got past this rule have points for it.
for name in by_value_of_one_head query_by_value weights_by_value; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  "$lab" check "$work/early/$name" --without-rules --one-kernel --no-gpu >"$work/$name.said" &
done
wait
impossible() { # NAME TEXT
  tr -s '\n ' ' ' <"$work/$1.said" | grep -q "impossible on the case [a-z0-9-]*: $2" ||
    complain "$1: $(cat "$work/$1.said")"
}
impossible by_value_of_one_head 'the keys alone have'
impossible query_by_value 'to read the query from shared memory takes at least 4 requests, .* of the code round yours 0 were'
impossible weights_by_value 'to read the weights from shared memory takes at least 1 requests, .* of the code round yours 0 were'
for name in by_value by_value_shared by_value_of_one_head query_by_value weights_by_value; do
  expect $name "^  0 of 100 .*cuh, line [0-9]+: it calls 'pick' with an object by value that is no local variable"
done
expect by_value_printed "^  0 of 100 .*cuh, line [0-9]+: it calls 'printf' with an object by value"
expect stored_unseen "^  0 of 100 .*cuh, line [0-9]+: it stores an object that 'give' returns in what is no local"
expect by_apply '^  0 of 100 .*line [0-9]+: a submission may not use std::apply'
for name in wild_constant wild_member wild_type; do
  expect $name "^  0 of 100 .*reference on .*: index out of its array at thread_group_qk.cuh:$(line_of_text $name 'dot += .*at\]')"
done
expect passes_local '^100 of 100 '
expect knows_counted_cases '^ 80 of 100 .*transactions: wrong while it was counted, .* on the case worked-example-4-warps: sequence 0, head 0'
expect races_when_counted '^ 80 of 100 .*transactions: wrong while it was counted, .* race'
expect wasteful '^ 80 of 100 .*transactions: barriers: '
expect host_reads '^  0 of 100 .*crashed: an access to memory that is not there, outside of a kernel'
expect keeps '^  0 of 100 .*line [0-9]+: it has variables of its own that are not __shared__'
expect keeps_pointers '^  0 of 100 .*line [0-9]+: it has variables of its own that are not __shared__'
expect nameless '^  0 of 100 .*has no lab.txt'
expect unknown "^  0 of 100 .*there is no lab 'no_such_lab'"
expect stray.txt '^  0 of 100 .*is no folder: unpack what was handed in'
expect 'a_file.zip.x0A' '^  0 of 100 .*is no folder: unpack'
[ "$(grep -c '"submission":' "$work/json")" -eq "$(find "$work/s" -mindepth 1 -maxdepth 1 -printf x | wc -c)" ] ||
  complain "the JSON has not all submissions"

# Two submissions of one name would write one file for Gradescope.
mkdir -p "$work/a/same" "$work/b/same"
if "$lab" grade "$work/a/same" "$work/b/same" --lab 1 --gradescope "$work/out" 2>"$work/error"; then
  complain "two submissions of one name were graded into one file"
fi
"$lab" grade "$work/a/same" "$work/b/same" --lab 1 >"$work/same"
for name in a/same b/same; do
  grep -q "  $name  " "$work/same" ||
    complain "of two submissions of one name $name is not told apart"
done
grep -q 'would both write same.json' "$work/error" || complain "equal names: $(cat "$work/error")"
finish
