#!/usr/bin/env bash
# Counts every stage's transactions on the CPU machine and, with Nsight Compute, on this machine's
# GPU, over ten shapes, and writes both side by side: RESULTS/agreement.json and agreement.md.
# Usage: bash tests/agreement/agreement.sh BUILD_FOLDER RESULTS      (built with PAGED_INSTANCES=pairwise)
set -euo pipefail
build=$(cd "${1:?usage: agreement.sh BUILD_FOLDER RESULTS}" && pwd)
mkdir -p "${2:?usage: agreement.sh BUILD_FOLDER RESULTS}"
results=$(cd "$2" && pwd)
for tool in ncu python3 "$build/bin/paged" "$build/bin/launch_stage"; do
  command -v "$tool" >/dev/null || {
    echo "agreement.sh: there is no $tool" >&2
    exit 2
  }
done
cases=$(mktemp -d)
trap 'rm -rf "$cases"' EXIT

write_case() { # NAME SCALAR CACHE HEAD_SIZE BLOCK_SIZE SEQ_LENS [MORE KEYS]
  printf '{"num_heads":%s,"num_kv_heads":1,"head_size":%s,"block_size":%s,"scalar":"%s","cache":"%s","seq_lens":[%s]%s}\n' \
    "${8:-1}" "$4" "$5" "$2" "$3" "$6" "${7:-}" >"$cases/$1.json"
}
v2=',"variant":"v2"'
write_case f16_d64_b8_full f16 f16 64 8 1024
write_case f16_d128_b16_full f16 f16 128 16 1024
write_case f16_d128_b16 f16 f16 128 16 1000
write_case f16_d128_b32 f16 f16 128 32 1000
write_case f16_d256_b8 f16 f16 256 8 513
write_case bf16_d256_b16 bf16 bf16 256 16 700 "$v2"
write_case f32_d128_b16 f32 f32 128 16 500
write_case f32_d64_b16_full f32 f32 64 16 512 "$v2"
write_case e4m3_d128_b16 f16 e4m3 128 16 1000
write_case gqa_batch f16 f16 64 16 35,17,0,600 "$v2" 4

metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
count() { # FILE STAGE
  local name
  name=$(basename "$1" .json)
  "$build/bin/paged" count --stage "$2" --case "$1" --json "$cases/$name.$2.cpu" >/dev/null || true
  ncu --csv --page raw --print-units base --print-fp --metrics "$metrics" \
    "$build/bin/launch_stage" "$2" "$1" >"$cases/$name.$2.ncu" 2>&1 || true
}
export -f count
export cases build metrics
for file in "$cases"/*.json; do for stage in 1 2 3 4 5; do printf '%s\0%s\0' "$file" "$stage"; done; done |
  xargs -0 -n 2 -P 4 bash -c 'count "$0" "$1"'

python3 - "$cases" "$results" <<'PYTHON'
import csv, glob, json, os, sys
cases, results = sys.argv[1:]
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
rows, failed = [], []
for path in sorted(glob.glob(cases + "/*.json")):
    name = os.path.basename(path)[:-5]
    for stage in range(1, 6):
        try:
            counted = json.load(open(f"{cases}/{name}.{stage}.cpu"))["stages"][0]["phases"]
            lines = [line for line in open(f"{cases}/{name}.{stage}.ncu") if line.startswith('"')]
            kernels = [row for row in csv.DictReader(lines) if row["ID"]]
            assert kernels
            rows.append({"case": name, "stage": stage, "kernels": len(kernels),
                         "cpu": {key: sum(p["counted"][key] for p in counted) for key in METRICS},
                         "gpu": {key: sum(int(float(row[m].replace(",", ""))) for row in kernels)
                                 for key, m in METRICS.items()}})
        except Exception as error:
            failed.append(f"{name}, stage {stage}: {error!r}: " + open(f"{cases}/{name}.{stage}.ncu").read()[-400:])
json.dump({"rows": rows, "failed": failed}, open(results + "/agreement.json", "w"), indent=1)
with open(results + "/agreement.md", "w") as table:
    names = ["load requests", "load sectors", "store requests", "store sectors", "shared loads",
             "wavefronts", "shared stores", "wavefronts"]
    print("| case | stage | " + " | ".join(names) + " |", file=table)
    print("|" + " --- |" * (2 + len(names)), file=table)
    for row in rows:
        cells = [str(row["cpu"][k]) if row["cpu"][k] == row["gpu"][k]
                 else f"{row['cpu'][k]}, GPU {row['gpu'][k]}" for k in METRICS]
        print(f"| {row['case']} | {row['stage']} | " + " | ".join(cells) + " |", file=table)
    for line in failed:
        print(line, file=table)
equal = sum(row["cpu"][k] == row["gpu"][k] for row in rows for k in METRICS)
print(f"{equal} of {len(rows) * len(METRICS)} counts are equal; {len(failed)} runs failed")
PYTHON
