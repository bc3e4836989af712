#!/usr/bin/env python3
"""Prints the tables of README.md beside it from what tests/gpu.sh has recorded.

Usage: python3 docs/measurements/tables.py docs/measurements/FOLDER
"""
import json
import pathlib
import sys

# What vLLM v0.6.0's own kernel takes on the same kind of GPU, in microseconds: V1 and V2; f16, then e4m3.
CLASSIC = {
    ("f16", "32/32", "1 x 1k"): (33.8, 24.3),
    ("f16", "32/32", "1 x 8k"): (248, 41.3),
    ("f16", "32/32", "1 x 32k"): (966, 149),
    ("f16", "32/32", "8 x 4k"): (160, 145),
    ("f16", "32/32", "32 x 2k"): (257, 263),
    ("f16", "32/32", "64 x 4k"): (1048, 989),
    ("f16", "32/32", "128 x 8k"): (3927, 3905),
    ("f16", "32/8", "1 x 1k"): (33.3, 23.8),
    ("f16", "32/8", "1 x 8k"): (241, 27.8),
    ("f16", "32/8", "1 x 32k"): (945, 94.6),
    ("f16", "32/8", "1 x 128k"): (None, 317),
    ("f16", "32/8", "32 x 2k"): (147, 157),
    ("f16", "32/8", "64 x 4k"): (557, 571),
    ("f16", "32/8", "128 x 8k"): (1995, 2260),
    ("f16", "64/8", "1 x 1k"): (32.9, 23.9),
    ("f16", "64/8", "1 x 8k"): (238, 46.4),
    ("f16", "64/8", "64 x 4k"): (922, 1048),
    ("f16", "64/8", "128 x 8k"): (3496, 4160),
    ("e4m3", "32/32", "128 x 8k"): (2643, None),
    ("e4m3", "32/8", "128 x 8k"): (2430, None),
    ("e4m3", "64/8", "128 x 8k"): (4677, None),
}


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}"


def rows_of(path):
    """{(heads, shape, type): {variant: microseconds, "megabytes": of keys and values}}, in order."""
    rows = {}
    for result in json.loads(path.read_text())["results"]:
        if result["wrong"]:
            sys.exit(f"{path}: {result['shape']} is wrong: {result['wrong']}")
        heads = f"{result['num_heads']}/{result['num_kv_heads']}"
        row = rows.setdefault((heads, result["shape"], result["type"]), {})
        row["megabytes"] = result["megabytes"]
        if result["stage"] == "partition-and-reduce":
            row[result["variant"]] = result["microseconds"]
    return rows


def times(folder):
    rows = rows_of(folder / "decode_benchmark.json")
    print("| heads q/kv | batch x context | MB of K and V | chosen | V1 | classic V1 | V2 | classic V2 "
          "| GB/s as chosen | bf16 as chosen | e4m3 as chosen | classic e4m3 V1 |")
    print("|" + " --- |" * 12)
    worst = ("", -1.0)
    for (heads, shape, kind), row in rows.items():
        if kind != "f16":
            continue
        chosen = row["auto"]
        name = "V1" if abs(chosen - row.get("v1", 1e9)) < abs(chosen - row["v2"]) else "V2"
        classic = CLASSIC.get((kind, heads, shape), (None, None))
        best = min((c for c in classic if c), default=None)
        if best and chosen / best - 1 > worst[1]:
            worst = (f"{heads}, {shape}", chosen / best - 1)
        other = {t: rows.get((heads, shape, t), {}).get("auto") for t in ("bf16", "e4m3")}
        print("| " + " | ".join([heads, shape, f"{row['megabytes']:.0f}", f"{number(chosen)} ({name})",
                                 number(row.get("v1")), number(classic[0]), number(row["v2"]),
                                 number(classic[1]), f"{row['megabytes'] * 1e3 / chosen:.0f}",
                                 number(other["bf16"]), number(other["e4m3"]),
                                 number(CLASSIC.get(("e4m3", heads, shape), (None,))[0])]) + " |")
    bf16 = max(rows[h, s, "bf16"]["auto"] / rows[h, s, "f16"]["auto"] - 1 for h, s, t in rows if t == "f16")
    slower = f"at most {100 * worst[1]:.1f} % slower" if worst[1] > 0 else f"at least {-100 * worst[1]:.1f} % faster"
    print(f"\nAgainst the better of the two classic paths, the choice is {slower} ({worst[0]}); bf16 costs at most {100 * bf16:.1f} % more than f16.")


def choices():
    """{type: {query heads: {shape: whether a call gets V1}}}. A test keeps the file equal to stages/v1_v2_policy.h."""
    return json.loads((pathlib.Path(__file__).parent / "v1_v2_choices.json").read_text())


def crossover(folder):
    takes_v1 = choices()
    for kind in ("f16", "e4m3"):
        rows = rows_of(folder / f"crossover_{kind}.json")
        lengths = sorted({int(s.split()[2]) for _, s, _ in rows})
        batches = sorted({int(s.split()[0]) for _, s, _ in rows})
        print(f"\n{kind} cache:\n\n| heads q/kv | batch | " + " | ".join(map(str, lengths)) + " |")
        print("|" + " --- |" * (2 + len(lengths)))
        for heads in ("32/32", "32/8", "64/8"):
            for batch in batches:
                cells = []
                for length in lengths:
                    shape = f"{batch} x {length}"
                    row = rows.get((heads, shape, kind), {})
                    if "v1" not in row or "v2" not in row:
                        cells.append("–")
                        continue
                    ratio = row["v1"] / row["v2"]
                    chosen = takes_v1[kind].get(heads.split("/")[0], {}).get(shape)
                    if chosen is None:
                        sys.exit(f"v1_v2_choices.json does not have {kind}, {heads}, {shape}; "
                                 "tests/stages/launch_plan_test.cpp says for which shapes it is written")
                    wrong_choice = chosen != (ratio < 1)
                    cells.append(f"**{ratio:.2f}**" if wrong_choice else f"{ratio:.2f}")
                print(f"| {heads} | {batch} | " + " | ".join(cells) + " |")


def versions(folder):
    """Versions of the kernels side by side: the mean of their runs."""
    results = json.loads((folder / "nvcc_versions.json").read_text())["results"]
    names = list(dict.fromkeys(result["version"] for result in results))
    rows = {}
    for result in results:
        heads = f"{result['num_heads']}/{result['num_kv_heads']}"
        if heads == "32/32" or result["shape"] == "128 x 8k" or (heads, result["shape"]) == ("64/8", "1 x 8k"):
            continue
        row = rows.setdefault((result["type"], heads, result["shape"], result["variant"].upper()), {})
        row[result["version"]] = sum(result["microseconds"]) / len(result["microseconds"])
    print("\n| type | heads q/kv | batch x context | kernel | " + " | ".join(names) + " |")
    print("|" + " --- |" * (4 + len(names)))
    for key in sorted(rows, key=lambda key: (key[0] == "e4m3", key)):
        print("| " + " | ".join([*key, *(f"{rows[key][name]:.1f}" if name in rows[key] else "–" for name in names)]) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    times(pathlib.Path(sys.argv[1]))
    crossover(pathlib.Path(sys.argv[1]))
    versions(pathlib.Path(sys.argv[1]))
