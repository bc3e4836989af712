# shellcheck shell=bash
# Sourced by what writes submissions.

# Replaces the text between a file's markers by standard input.
fill_hole() {
  local content
  content=$(mktemp)
  cat >"$content"
  awk -v content="$content" '
    /^ *\/\/ \[[a-z-]*\]$/ { print; while ((getline line < content) > 0) print line; skip = 1; next }
    /^ *\/\/ \[\/[a-z-]*\]$/ { skip = 0 }
    !skip' "$1" >"$1.new"
  mv "$1.new" "$1"
  rm -f "$content"
}

# What a text that has left the kernel of lab 1, and namespaces paged::lab and {}, goes on with, in
# paged::lab: a kernel that nobody calls has the lines behind the hole.
take_up_lab_1() {
  cat <<'CODE'
namespace {
template <typename scalar_t, typename cache_t>
__global__ void leftover(const DecodeTensors<scalar_t, cache_t> t) {
  const HeadTask task = whole_head(t, blockIdx.y, blockIdx.x, t.block_size);
  float* weights = reinterpret_cast<float*>(dynamic_shared);
CODE
}
