#!/usr/bin/env bash
# Registers, spilled bytes and shared memory of every kernel of the stages, as nvcc reports them, as
# Markdown. Fails if a kernel spills, or keeps anything else in local memory, at a head size up to 128.
# Usage: bash tests/kernel_resources.sh [small|pairwise|all] [architecture, e.g. sm_90]
set -euo pipefail
list="${1:-all}"
architecture="${2:-sm_90}"
cd "$(dirname "$0")/.."
command -v nvcc >/dev/null || {
  echo "tests/kernel_resources.sh needs nvcc; there is none on the PATH" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

compile() {
  local name
  name=$(basename "$1")
  TIMEFORMAT=%U  # of the processor, whatever else it does
  { time nvcc -std=c++20 -arch="$architecture" -O3 -I. -DPAGED_BACKEND=cuda -DPAGED_INSTANCES="$list" \
    -Xptxas -v -cubin "$1" -o "$scratch/$name.cubin" 2>"$scratch/$name.log"; } 2>"$scratch/$name.seconds" || {
    cat "$scratch/$name.log" >&2
    exit 1
  }
}
export -f compile
export architecture list scratch
printf '%s\0' stages/*.cu | xargs -0 -n 1 -P "$(nproc)" bash -c 'compile "$0"'

echo "Registers a thread, bytes of static shared memory a block and, in bold, bytes spilled or otherwise in local memory; of the instance"
echo "list \`$list\` for $architecture, by $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p'), which took $(cat "$scratch"/*.seconds | awk '{ sum += $1 } END { printf "%.0f", sum }') s of one core and made $(cat "$scratch"/*.cubin | wc -c | awk '{ printf "%.1f", $1 / 1e6 }') MB."
cat "$scratch"/*.log | c++filt -p | awk '
  # One line a kernel: name, types, head size, block size, registers, shared, spilled.
  /Compiling entry function/ { name = $0; sub(/.*function .(void )?/, "", name); sub(/.( for .*)$/, "", name) }
  /bytes stack frame/ { frame = $1 }
  /bytes spill stores/ { for (i = 1; i <= NF; ++i) if ($i == "spill" && $(i + 1) ~ /^stores/) spilled = $(i - 2) }
  /Used [0-9]+ registers/ {
    registers = $0; sub(/.*Used /, "", registers); sub(/ registers.*/, "", registers)
    shared = $0; if (sub(/ bytes smem.*/, "", shared)) sub(/.* /, "", shared); else shared = 0
    print name "\t" registers "\t" shared "\t" (spilled > frame ? spilled : frame)
  }' | sed -E 's/[a-zA-Z_:]*_GLOBAL__N__[^:]*:://; s/paged::cuda::(\(anonymous namespace\)::)?//g; s/__nv_bfloat16/bf16/g; s/__nv_fp8_//g; s/__half/f16/g; s/float/f32/g' |
  sort -V >"$scratch/kernels.tsv"
awk -F '\t' '
  {
    split($1, part, "<"); kernel = part[1]; sub(/>.*/, "", part[2]); n = split(part[2], argument, ", ")
    cell = $2 ", " $3 ($4 > 0 ? ", **" $4 "**" : "")
    sized = argument[3] ~ /^[0-9]+$/
    if (sized && argument[3] <= 128 && $4 > 0) bad = bad "\n" $1 " has " $4 " bytes in local memory"
    count_of_sized += sized
    if (!sized) { row = n == 0 ? "–" : part[2]; plain[kernel] = plain[kernel] "\n| " row " | " cell " |"; next }
    row = argument[1] " | " argument[2] " | " argument[4] " | " (n >= 5 ? argument[5] : "–")
    if (!((kernel, row) in seen)) { seen[kernel, row] = 1; rows[kernel] = rows[kernel] "\n" row }
    heads[argument[3] + 0] = 1; cells[kernel, row, argument[3] + 0] = cell; sizes[kernel] = 1
  }
  END {
    number = 0; for (h = 1; h <= 1024; ++h) if (h in heads) order[++number] = h
    count = 0; for (kernel in sizes) names[++count] = kernel
    for (i = 1; i <= count; ++i) for (j = i + 1; j <= count; ++j) if (names[j] < names[i]) { t = names[i]; names[i] = names[j]; names[j] = t }
    for (i = 1; i <= count; ++i) {
      kernel = names[i]
      printf "\n## %s\n\n| scalar | cache | block size | probabilities |", kernel
      for (k = 1; k <= number; ++k) printf " d=%d |", order[k]
      printf "\n| --- | --- | --- | --- |"
      for (k = 1; k <= number; ++k) printf " --- |"
      lines = split(substr(rows[kernel], 2), line, "\n")
      for (l = 1; l <= lines; ++l) {
        printf "\n| %s |", line[l]
        for (k = 1; k <= number; ++k) printf " %s |", ((kernel, line[l], order[k]) in cells) ? cells[kernel, line[l], order[k]] : "–"
      }
      print ""
    }
    count = 0; for (kernel in plain) others[++count] = kernel
    for (i = 1; i <= count; ++i) for (j = i + 1; j <= count; ++j) if (others[j] < others[i]) { t = others[i]; others[i] = others[j]; others[j] = t }
    for (i = 1; i <= count; ++i) printf "\n## %s\n\n| types | registers, shared |\n| --- | --- |%s\n", others[i], plain[others[i]]
    if (count_of_sized < 4 * 12) bad = bad "\nonly " count_of_sized + 0 " kernels were found in what nvcc says"
    if (bad != "") { print "tests/kernel_resources.sh:" bad > "/dev/stderr"; exit 1 }
  }' "$scratch/kernels.tsv"
