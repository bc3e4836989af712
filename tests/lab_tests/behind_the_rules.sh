#!/usr/bin/env bash
# What holds of a submission that has got past the rules on its text and symbols: limits, the
# filter, and that nothing is in its process but the CPU machine.
# shellcheck source=tests/lab_tests/lab_test.sh
. "$(dirname "$0")/lab_test.sh"
grades=""

names=()
declare -A wanted
# behind NAME EXPECTED [OPTION...]: without the rules, a kernel of lab 1 that calls hostile(t),
# which standard input defines in the namespace of nothing. Two at a time; what each has said is
# looked at below.
behind() {
  local name=$1 expected=$2
  shift 2
  "$lab" new 1 "$work/$name" >"$work/new"
  fill_hole "$(file_of "$work/$name")" < <(
    cat <<'CODE'
  hostile(t);
}
}  // namespace
}  // namespace paged::lab
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
CODE
    cat
    cat <<'CODE'
namespace paged::lab {
template <typename T> __device__ void hostile(const T&) { ::hostile(); }
CODE
    take_up_lab_1
  )
  names+=("$name")
  wanted[$name]=$expected
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  timeout 100 "$lab" check "$work/$name" --without-rules --one-kernel --no-gpu --seconds-per-run 2 \
    --json "$work/$name.json" "$@" >"$work/$name.out" &
}

stopped='asked the system for what no kernel needs'
behind signal "$stopped" <<<'void hostile() { kill(getppid(), SIGKILL); }'
# The file may be refused by the end of the process, or by an error: it is looked for below.
behind before_main "$stopped" <<<"void hostile() {}
__attribute__((constructor(99))) void early() {
  creat(\"$work/was_here\", 0600);
  kill(getppid(), SIGKILL);
}"
# Memory that the limit does not know.
behind shared_memory "$stopped" <<'CODE'
void hostile() {
  for (;;) memset(mmap(nullptr, 1 << 28, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1, 1 << 28);
}
CODE
# Says what it likes to the harness: the same question without an end, and nonsense; or hears no
# more.
behind questions 'answered what cannot be' <<<'void hostile() { for (;;) write(4, "\3\0\0\0\0\0\0\0\0", 9); }'
behind garbage 'answered what cannot be' <<<'void hostile() { for (;;) write(4, "99999999", 8); }'
behind deaf 'would hear no more' <<<'void hostile() { close(3); close(4); for (;;) poll(nullptr, 0, 1000); }'
# What it defines takes the place of nothing in its process: this is what brings its data in.
behind replaces 'FAILED: writes-only-output, in step single-token' <<'CODE'
namespace std {
template <> __attribute__((noinline)) inline void vector<char>::_M_default_append(size_t) { for (;;) {} }
}
void use(std::vector<char>& data) { data.resize(data.size() + 9); }
void hostile() {}
CODE
# What could answer for it is not there.
behind stages 'does not compile' <<'CODE'
namespace paged::cpu_checked { void run_stage_02(const paged_decode_args&); }
void hostile() { paged::cpu_checked::run_stage_02({}); }
CODE
behind reference 'does not compile' <<'CODE'
namespace paged { void decode_attention(const void*); }
void hostile() { paged::decode_attention(nullptr); }
CODE

# Where there is no filter, what it starts is ended with it, in whichever session it is.
behind leaves_a_process 'endless loop' --without-filter <<CODE
void hostile() {
  if (creat("$work/once", 0400) >= 0 && fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    FILE* file = fopen("$work/left", "w");
    fprintf(file, "%d", getpid());
    fclose(file);
    for (;;) pause();
  }
  while (access("$work/left", F_OK) != 0) usleep(1000);
  for (;;) pause();
}
CODE
wait
for name in "${names[@]}"; do
  out=$(tr -s '\n ' ' ' <"$work/$name.out") # sentences are wrapped
  if [ "$name" != leaves_a_process ] && grep -qE '"shut_off": *false' "$work/$name.json" && [[ "$out" != *compile* ]]; then
    echo "no system-call filter here"
    exit 0
  fi
  grep -qE -- "${wanted[$name]}" <<<"$out" || complain "$name: expected '${wanted[$name]}', and got: $out"
  grep -q '^0 of 100 points' "$work/$name.out" || complain "$name has points"
done
[ -s "$work/left" ] || complain "no process was left: mend the test"
[ ! -e "/proc/$(cat "$work/left")" ] || complain "a process that it left goes on"
[ ! -e "$work/was_here" ] || complain "a file was written"
finish
