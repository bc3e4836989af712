#!/usr/bin/env bash
# Counts the wavefronts of every pattern of shared-memory accesses on this machine's GPU with Nsight
# Compute and prints them beside the model's, as JSON:
#   {"device": ..., "differ": n, "patterns": [{"name", "predicted_load_wavefronts",
#    "predicted_store_wavefronts", "measured_load_wavefronts", "measured_store_wavefronts",
#    "load_instructions", "store_instructions"}]}
# Exit status 1 if one differs.
# Usage: wavefront_patterns.sh [PROGRAM] >patterns.json      (PROGRAM: build/bin/wavefront_patterns)
set -euo pipefail
program=${1:-build/bin/wavefront_patterns}
for tool in ncu python3 nvidia-smi "$program"; do
  command -v "$tool" >/dev/null || {
    echo "wavefront_patterns.sh: there is no $tool" >&2
    exit 2
  }
done
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

"$program" --list >"$folder/list.json"
ncu --csv --page raw --print-units base --print-fp \
  --kernel-name 'regex:(load|store)_pattern' \
  --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum \
  "$program" >"$folder/ncu.csv" 2>"$folder/ncu.log" || {
  cat "$folder/ncu.csv" "$folder/ncu.log" >&2
  exit 2
}
nvidia-smi --query-gpu=name --format=csv,noheader | head -1 >"$folder/device"

python3 - "$folder" <<'PYTHON'
import csv, json, sys
folder = sys.argv[1]
patterns = json.load(open(folder + "/list.json"))
lines = [line for line in open(folder + "/ncu.csv") if line.startswith('"')]
rows = [row for row in csv.DictReader(lines) if row["ID"]]  # the row of units has no ID
if len(rows) != len(patterns):
    sys.exit(f"wavefront_patterns.sh: ncu counted {len(rows)} kernels, but there are {len(patterns)} patterns")
number = lambda row, metric: int(float(row[metric].replace(",", "")))
for pattern, row in zip(patterns, rows):
    wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
    pattern["measured_load_wavefronts"] = number(row, wavefronts + "ld.sum")
    pattern["measured_store_wavefronts"] = number(row, wavefronts + "st.sum")
    pattern["load_instructions"] = number(row, "smsp__inst_executed_op_shared_ld.sum")
    pattern["store_instructions"] = number(row, "smsp__inst_executed_op_shared_st.sum")
differ = sum(p[f"predicted_{way}_wavefronts"] != p[f"measured_{way}_wavefronts"]
             for p in patterns for way in ("load", "store"))
json.dump({"device": open(folder + "/device").read().strip(), "differ": differ, "patterns": patterns},
          sys.stdout, indent=1)
print()
sys.exit(differ != 0)
PYTHON
