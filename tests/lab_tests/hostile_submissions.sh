#!/usr/bin/env bash
# A course's worst (its best are in the other tests): each gets the points for what it has shown, none of them harms anything, and one
# line says what it was.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"

folder=""
# submission NAME: the starter of lab 1, in $folder.
submission() {
  folder="$work/$1"
  "$lab" new 1 "$folder" >"$work/new"
}
# hole NAME: a submission whose hole is standard input.
hole() {
  submission "$1"
  fill_hole "$(file_of "$folder")"
}

submission h_empty
: >"$(file_of "$folder")"
submission h_missing
rm "$(file_of "$folder")"
submission h_link
ln -sf /etc/passwd "$(file_of "$folder")"
submission h_huge
head -c 1000000 /dev/zero >>"$(file_of "$folder")"
hole h_syntax <<<'  float logit = ;'
hole h_endless <<<'  volatile int spin = 1; while (spin == 1) {}'
hole h_divides <<<'  volatile int zero = 0; volatile int one = 1 / zero;'
hole h_exit <<<'  std::exit(0);'
hole h_forks <<<'  for (;;) std::system("sleep 60 &");'
hole h_memory <<<'  for (;;) { float* volatile more = new float[1 << 24]; }'
hole h_prints <<<'  for (int i = 0; i < 200; ++i) std::printf("100 of 100, \"score\": 100, all held %060d\n", i);'
hole h_includes <<<'#include "/etc/passwd"'
hole h_unwatched <<<'  auto f = [] __attribute__((no_sanitize("thread"))) () {};'
hole h_assembly <<<'  a\
sm("");'
hole h_bomb <<'CODE'
  struct Bomb {
    static constexpr int grow(int n) { return n < 2 ? 1 : (grow(n - 1) + grow(n - 2)) % 7; }
  };
  constexpr int bang = Bomb::grow(60);
CODE
# Leaves the hole, declares the reference, and calls it in place of the kernel.
hole h_reference <<'CODE'
  steal(t);
}
}  // namespace
}  // namespace paged::lab
namespace paged { void decode_attention(const void*); }
namespace paged::lab {
template <typename T> __device__ void steal(const T& t) { paged::decode_attention(t.query); }
namespace {
template <typename scalar_t, typename cache_t>
__global__ void leftover(const DecodeTensors<scalar_t, cache_t> t) {
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, t.block_size);
  float* weights = reinterpret_cast<float*>(dynamic_shared);
CODE

started=$SECONDS
grade "$work"/h_* --seconds-per-run 1
[ $((SECONDS - started)) -lt 300 ] || complain "grading took $((SECONDS - started)) s"
expect h_empty '^  0 of 100 .*has no line `// \[page-walk\]`'
expect h_missing '^  0 of 100 .*has no file stage_01_naive_paged_gather.cu'
expect h_link '^  0 of 100 .*is no regular file of the submission'
expect h_huge '^  0 of 100 .*has more than 256 KB'
expect h_syntax '^  0 of 100 .*it does not compile'
expect h_endless '^  0 of 100 .*did not come to an end within 1 s: an endless loop\?'
expect h_divides '^  0 of 100 .*division of whole numbers by zero'
expect h_exit '^  0 of 100 .*it uses exit, which a kernel has no need of'
expect h_forks '^  0 of 100 .*it uses system, '
expect h_memory '^  0 of 100 .*out of its 1024 MiB of memory'
expect h_prints '^  0 of 100 .*single-token: '
expect h_includes '^  0 of 100 .*line [0-9]+: a submission may not use preprocessor directives'
expect h_unwatched '^  0 of 100 .*may not use attributes'
expect h_assembly '^  0 of 100 .*may not use assembly'
expect h_bomb '^  0 of 100 .*(it does not compile|compiling did not come to an end)'
expect h_reference '^  0 of 100 .*it uses paged::decode_attention'
finish
