#!/usr/bin/env python3
"""What each site and policy costs the weight gradient of the trained demo model, beside what the planner predicts.

  tests/bench/gradient_errors.py [--program build/bin/gradient_errors] [--checkpoint build/demo/checkpoints] \
      [--data build/demo/shakespeare_valid]

deploy/local/train.sh leaves the checkpoint and the data. Prints a table and writes tests/bench/results/gradient_errors.json.
Exit status 1 when a prediction is off by more than a quarter.
"""
import argparse
import datetime
import json
import subprocess

from cpu_training import ROOT, cpu_name, output_of

LARGEST_DEVIATION = 0.25


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/bin/gradient_errors")
    parser.add_argument("--checkpoint", default=ROOT / "build/demo/checkpoints")
    parser.add_argument("--data", default=ROOT / "build/demo/shakespeare_valid")
    args = parser.parse_args()
    rows = []
    for line in output_of([args.program, args.checkpoint, args.data]).splitlines():
        name, predicted, measured = line.split("\t")
        ratio = float(measured) / float(predicted)
        row = {"name": name, "value": float(measured), "unit": "relative error", "peer": "predicted",
               "peer_value": float(predicted), "ratio": round(ratio, 3)}
        if "layer" not in name:  # a layer alone is for reading: its share is a mean of many
            row |= {"target": LARGEST_DEVIATION, "met": abs(ratio - 1) <= LARGEST_DEVIATION}
        rows.append(row)
        print(f"{name:36} predicted {float(predicted):.4f} measured {float(measured):.4f} ratio {ratio:.2f}"
              f"{'' if row.get('met', True) else '  MISSED'}")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    result = {"date": datetime.date.today().isoformat(), "hardware": cpu_name(),
              "command": "tests/bench/gradient_errors.py", "commit": commit.stdout.strip(), "rows": rows}
    (ROOT / "tests/bench/results/gradient_errors.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(row.get("met", True) for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
