#!/usr/bin/env python3
"""What finds planted mistakes: the CPU machine here, compute-sanitizer's four tools on the GPU.

Usage: planted_findings.py PROGRAM RESULTS_DIRECTORY [--seconds N] [--parallel N]
  PROGRAM: build/bin/planted_findings of a build with CUDA

Writes planted_findings.json and planted_findings.md, and each process's output to a folder beside
them. Exit status: 1 if the CPU machine missed a mistake or found one where there is none, 3 if the
table is not complete.

Starting the sanitizer takes longer than most kernels, so kernels that a tool will hardly say anything
of share a process. "-" for all of them needs an error summary of 0. Else those that are to blame are
found by halving, or, where a launch failed or hung, by the name that the program printed last; what
stands in the table as found was found by a process of its own.
"""
import argparse
import concurrent.futures
import json
import os
import queue
import re
import subprocess
import sys
import time

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# What a tool is likely to report: tried alone at once. It is no matter if this is wrong.
LIKELY = {
    "memcheck": ("out-of-bounds", "misaligned", "stack overflow", "barrier", "uninitialised"),
    "racecheck": ("data race", "read before arrival"),
    "initcheck": ("uninitialised", "unwritten"),
    "synccheck": ("barrier", "warp", "missing", "mbarrier"),
}
MAY_HANG = ("deadlock", "barrier", "warp", "missing", "mbarrier")
GROUP = 24  # kernels in one process
KERNEL_SECONDS = 8  # of a process with one kernel
GROUP_SECONDS = 25

SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")
REPORT = re.compile(
    r"^========= (?:(Invalid \S+ \S+|(?:Error|Warning): .*?hazard|Error: Race reported|"
    r"Uninitialized \S+ memory read|Barrier error[^.]*|.*[Ss]tack overflow|Divergent thread[^.]*|"
    r"Invalid arguments|Missing wait|Misaligned[^.]*|Address \S+ is misaligned))", re.MULTILINE)
PLACE = re.compile(r"in (?:\S*/)?(\S+\.cuh?:\d+)")


class Run:
    """One process of a tool over some kernels."""

    def __init__(self, log, output, status, timed_out):
        self.log = log
        self.output = output
        self.status = status
        self.timed_out = timed_out
        lines = [line for line in output.splitlines() if line.strip()]
        self.last_line = lines[-1] if lines else ""
        started = re.findall(r"^planted: (.*)$", output, re.MULTILINE)
        self.last_started = started[-1] if started else None
        counts = [int(a or b) for a, b in SUMMARY.findall(output)]
        self.errors = max(counts) if counts else None
        self.internal = "Internal Sanitizer Error" in output or "Target application terminated before" in output

    def failed(self):
        """The sanitizer has said nothing of the kernels, for a reason of its own."""
        return not self.timed_out and (self.errors is None or self.internal)

    def is_clean(self):
        return self.status == 0 and self.errors == 0 and not self.timed_out and not self.internal


class Trial:
    def __init__(self, program, logs, seconds, parallel):
        self.program = program
        self.logs = logs
        self.end = time.monotonic() + seconds
        self.parallel = parallel
        self.verdicts = {}  # (name, tool): dictionary
        self.num_processes = 0
        # Sanitizers that run side by side need ports of their own.
        help_text = subprocess.run(["compute-sanitizer", "--help"], capture_output=True, text=True).stdout
        self.has_ports = "--base-port" in help_text
        self.slots = queue.Queue()
        for slot in range(parallel):
            self.slots.put(slot)

    def run(self, tool, names):
        slot = self.slots.get()
        try:
            self.num_processes += 1
            log = os.path.join(self.logs, f"{self.num_processes:03d}_{tool}.txt")
            command = ["compute-sanitizer", "--tool", tool]
            if self.has_ports:
                command += ["--base-port", str(49152 + 64 * slot)]
            if tool == "racecheck":
                command += ["--racecheck-report", "all"]
            limit = KERNEL_SECONDS if len(names) == 1 else GROUP_SECONDS
            limit = max(1.0, min(limit, self.end - time.monotonic()))
            with open(log, "w", encoding="utf-8") as file:
                process = subprocess.Popen(command + [self.program] + names, stdout=file,
                                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                           start_new_session=True)
                timed_out = False
                try:
                    status = process.wait(limit)
                except subprocess.TimeoutExpired:
                    timed_out = True
                    os.killpg(process.pid, 9)  # the sanitizer and the program, which this one started
                    status = process.wait()
            with open(log, encoding="utf-8", errors="replace") as file:
                return Run(log, file.read(), status, timed_out)
        finally:
            self.slots.put(slot)

    def settle(self, name, tool, text, run=None, **more):
        self.verdicts[name, tool] = {
            "verdict": text, "log": os.path.basename(run.log) if run else None,
            "last_line": run.last_line if run else None, **more}

    def settle_one(self, name, tool, run):
        if run.timed_out:
            return self.settle(name, tool, f"hangs ({KERNEL_SECONDS} s)", run, errors=run.errors)
        if run.failed():
            return self.settle(name, tool, "SANITIZER FAILED", run, status=run.status)
        if run.errors:
            reports = REPORT.findall(run.output)
            places = sorted(set(PLACE.findall(run.output)))
            what = f": {reports[0]}" if reports else ""
            return self.settle(name, tool, "found" + what, run, errors=run.errors, places=places)
        return self.settle(name, tool, "-" if run.status == 0 else "launch fails, no report", run, errors=0)

    def try_names(self, tool, names):
        """Leaves a verdict for each."""
        todo = [list(names)]
        while todo:
            group = todo.pop()
            if not group:
                continue
            if time.monotonic() > self.end - 1:
                for name in group:
                    self.settle(name, tool, "not run: out of time")
                continue
            run = self.run(tool, group)
            if len(group) == 1:
                self.settle_one(group[0], tool, run)
                continue
            if run.is_clean():
                for name in group:
                    self.settle(name, tool, "-", run, errors=0, together_with=len(group))
                continue
            at = group.index(run.last_started) if run.last_started in group else None
            stopped = at is not None and (run.timed_out or (run.errors == 0 and run.status != 0))
            if stopped:  # the one that was running by itself, those before and behind it together
                todo += [group[:at], [group[at]], group[at + 1:]]
            else:
                half = len(group) // 2
                todo += [group[:half], group[half:]]

    def try_all(self, rows):
        jobs = []
        for tool in TOOLS:
            alone = [r for r in rows if not r["kind"].startswith("clean") and
                     r["kind"].startswith(LIKELY[tool] + MAY_HANG)]
            together = [r["name"] for r in rows if r not in alone]
            jobs += [(tool, together[i:i + GROUP]) for i in range(0, len(together), GROUP)]
            jobs += [(tool, [r["name"]]) for r in alone]
        with concurrent.futures.ThreadPoolExecutor(self.parallel) as pool:
            for job in [pool.submit(self.try_names, *job) for job in jobs]:
                job.result()


def cpu_findings(program, rows):
    """By name: what the CPU machine reports, "kind, file:line"."""
    found = {row["name"]: [] for row in rows}
    output = subprocess.run([program, "--cpu"] + list(found), capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, timeout=100).stdout
    for line in output.splitlines():
        name, tab, finding = line.partition("\t")
        if tab and name in found:
            with_line = re.match(r"([a-z -]*) at (\S*:\d+) in", finding)
            kind = re.match(r"([a-z -]*?) in [^:]*:", finding)
            found[name].append(", ".join(with_line.groups()) if with_line else
                               kind.group(1) if kind else finding)
    return found


def is_as_planted(row):
    if row["kind"].startswith("clean"):
        return not row["cpu"]
    return any(finding.startswith(row["kind"]) for finding in row["cpu"])


def table_of(rows):
    lines = ["| planted kernel | kind | CPU machine | " + " | ".join(TOOLS) + " |",
             "| --- " * (3 + len(TOOLS)) + "|"]
    for row in rows:
        cells = [row["name"], row["kind"], "; ".join(row["cpu"]) or "-"]
        cells += [row[tool]["verdict"] for tool in TOOLS]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("results")
    parser.add_argument("--seconds", type=float, default=110, help="what is not done then is not run")
    parser.add_argument("--parallel", type=int, default=6)
    options = parser.parse_args()
    logs = os.path.join(options.results, "planted_findings_logs")
    os.makedirs(logs, exist_ok=True)
    begin = time.monotonic()

    listed = subprocess.run([options.program, "--list"], capture_output=True, text=True, check=True).stdout
    rows = [dict(zip(("name", "kind"), line.split("\t"))) for line in listed.splitlines()]
    trial = Trial(os.path.abspath(options.program), logs, options.seconds, options.parallel)
    for row, cpu in zip(rows, cpu_findings(options.program, rows).values()):
        row["cpu"] = cpu
    trial.try_all(rows)
    for row in rows:
        row["as_planted_on_cpu"] = is_as_planted(row)
        for tool in TOOLS:
            row[tool] = trial.verdicts[row["name"], tool]

    missed = [row["name"] for row in rows if not row["as_planted_on_cpu"]]
    verdicts = [row[tool]["verdict"] for row in rows for tool in TOOLS]
    failed = sum(verdict == "SANITIZER FAILED" for verdict in verdicts)
    not_run = sum(verdict.startswith("not run") for verdict in verdicts)
    planted = [row for row in rows if not row["kind"].startswith("clean")]
    by_any = sum(any(row[tool]["verdict"].startswith("found") for tool in TOOLS) for row in planted)
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True).stdout
    result = {
        "commit": os.environ.get("COMMIT", "unknown"), "sanitizer": version.strip().splitlines()[-1:],
        "seconds": round(time.monotonic() - begin, 1), "processes": trial.num_processes,
        "planted": len(planted), "clean": len(rows) - len(planted),
        "found_by_the_cpu_machine": sum(row["as_planted_on_cpu"] for row in planted),
        "found_by_any_tool": by_any, "sanitizer_failed": failed, "not_run": not_run, "rows": rows}
    with open(os.path.join(options.results, "planted_findings.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    with open(os.path.join(options.results, "planted_findings.md"), "w", encoding="utf-8") as file:
        file.write(table_of(rows))
    print(f"planted_findings: {len(planted)} mistakes, {by_any} found by some tool of compute-sanitizer, "
          f"{result['found_by_the_cpu_machine']} by the CPU machine; {len(missed)} kernels not as planted there; "
          f"the sanitizer failed {failed} times, {not_run} not run; {trial.num_processes} processes, "
          f"{result['seconds']} s")
    for name in missed:
        print(f"not as planted on the CPU machine: {name}")
    if missed:
        return 1
    return 3 if failed or not_run else 0


if __name__ == "__main__":
    sys.exit(main())
