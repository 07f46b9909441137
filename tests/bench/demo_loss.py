#!/usr/bin/env python3
"""Held-out loss of the demo: two Gloo ranks of one thread each, paper policy and 8-bit gradients against all full and fp32.

  tests/bench/demo_loss.py --trainer build/bin/agoq-trainer --text build/demo/shakespeare.txt [--seconds 100] [--seeds 0 1]

First the demo as it is, bounded by time; then, for each seed, as many steps with either policy. Both are evaluated on the whole held-out
part. Writes tests/bench/results/demo_loss.json. Exit status 1 when a target was missed.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from cpu_training import ROOT, cpu_name, output_of

LIMIT = 1.90  # nats per byte
LARGEST_DIFFERENCE = 0.03
JOB = """
name: demo-loss
model: {{config: {config}}}
data: {{path: {data}_train, validation_path: {data}_valid}}
mesh: {{data: 2}}
precision: {{compute: float32, gradient_format: {gradients}}}
plan: {{mode: fixed, table: {policy}}}
optimizer: {{learning_rate: 3e-3, warmup_steps: 50}}
steps: {{{bound}, sequence_length: 128, micro_batch_size: 8, threads: 1, seed: {seed}}}
"""


def run(args, folder, **fields):
    job = folder / "job.yaml"
    job.write_text(JOB.format(config=ROOT / "deploy/examples/shakespeare-config.json", data=folder / "text", **fields))
    result = folder / "result.json"
    output_of([args.trainer, "run", job, "--local-processes", 2, "--result", result])
    return json.loads(result.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    args = parser.parse_args()

    losses = {"paper": [], "full": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output_of([args.trainer, "tokenize", args.text, folder / "text"])
        demo = run(args, folder, policy="paper", gradients="int8", bound=f"max_seconds: {args.seconds}", seed=0)
        for seed in args.seeds:
            for policy, gradients in (("paper", "int8"), ("full", "none")):
                report = run(args, folder, policy=policy, gradients=gradients, bound=f"total: {demo['steps']}", seed=seed)
                losses[policy].append(report["validation"]["loss"])
    mean = {policy: statistics.mean(values) for policy, values in losses.items()}
    difference = abs(mean["paper"] - mean["full"])
    rows = [
        {"name": f"held-out loss after {args.seconds:g} s, {demo['steps']} steps", "value": round(demo["validation"]["loss"], 4),
         "unit": "nats/byte", "peer": "bigram entropy", "peer_value": 2.555, "ratio": round(demo["validation"]["loss"] / 2.555, 3),
         "target": LIMIT, "met": demo["validation"]["loss"] <= LIMIT},
        {"name": "paper + int8 against full + fp32, difference of means", "value": round(difference, 4), "unit": "nats/byte",
         "peer": "all full, fp32 gradients", "peer_value": round(mean["full"], 4), "ratio": round(mean["paper"] / mean["full"], 4),
         "target": LARGEST_DIFFERENCE, "met": difference <= LARGEST_DIFFERENCE},
    ]
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    report = {"date": datetime.date.today().isoformat(), "hardware": f"{cpu_name()}, 2 ranks of 1 thread",
              "command": f"tests/bench/demo_loss.py --seconds {args.seconds:g} --seeds {' '.join(map(str, args.seeds))}",
              "commit": commit.stdout.strip(), "rows": rows, "losses": losses, "tokens_per_second": demo["tokens_per_second"]}
    results = ROOT / "tests/bench/results"
    results.mkdir(exist_ok=True)
    (results / "demo_loss.json").write_text(json.dumps(report, indent=1) + "\n")
    for row in rows:
        print(f"{row['name']:56} {row['value']:.4f} (target {row['target']}){'' if row['met'] else '  missed'}")
    print(f"losses by seed: {losses}")
    sys.exit(0 if all(row["met"] for row in rows) else 1)


if __name__ == "__main__":
    main()
