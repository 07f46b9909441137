#!/usr/bin/env python3
"""Training speed on the CPU against PyTorch eager, in turns, same shapes and threads.

  tests/bench/cpu_training.py --trainer build/bin/agoq-trainer --text build/demo/shakespeare.txt \
      --peer-python VENV/bin/python [--seconds 30] [--rounds 3]

The peer's Python needs torch 2.11 (pip install torch==2.11.0 numpy). Prints a table and writes
tests/bench/results/cpu_training.json. Exit status 1 when a target was missed.
"""
import argparse
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = ROOT / "tests/bench/peers/torch_cpu_demo.py"
TARGETS = {"full": 1.0, "paper": 0.87}
JOB = """
name: cpu-training
model: {{config: {config}}}
data: {{path: {data}}}
precision: {{compute: float32, gradient_format: int8}}
plan: {{mode: fixed, table: full}}
optimizer: {{learning_rate: 3e-3, warmup_steps: 50}}
steps: {{max_seconds: {seconds}, sequence_length: 128, micro_batch_size: 16, threads: {threads}}}
"""


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def peer_rate(args):
    text = output_of([args.peer_python, PEER, args.text, "--seconds", args.seconds, "--threads", args.threads])
    return float(re.search(r"tokens/s (\d+)", text).group(1))


def agoq_rate(args, folder, policy):
    job = folder / "job.yaml"
    job.write_text(JOB.format(config=ROOT / "deploy/examples/shakespeare-config.json", data=folder / "text_train",
                              seconds=args.seconds, threads=args.threads))
    result = folder / "result.json"
    output_of([args.trainer, "run", job, "--policy", policy, "--result", result])
    return json.loads(result.read_text())["tokens_per_second"]


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()

    rates = {"peer": [], "full": [], "paper": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output_of([args.trainer, "tokenize", args.text, folder / "text"])
        for _ in range(args.rounds):
            rates["peer"].append(peer_rate(args))
            for policy in TARGETS:
                rates[policy].append(agoq_rate(args, folder, policy))

    peer = statistics.median(rates["peer"])
    rows = []
    for policy, target in TARGETS.items():
        value = statistics.median(rates[policy])
        rows.append({"name": f"policy {policy}, int8 gradients", "value": round(value), "unit": "tokens/s",
                     "peer": "PyTorch eager", "peer_value": round(peer), "ratio": round(value / peer, 3),
                     "target": target, "met": value / peer >= target})
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    report = {"date": datetime.date.today().isoformat(), "hardware": f"{cpu_name()}, {args.threads} threads",
              "command": f"tests/bench/cpu_training.py --seconds {args.seconds:g} --rounds {args.rounds} --threads {args.threads}",
              "commit": commit.stdout.strip(), "rows": rows, "all_rounds": {k: [round(v) for v in r] for k, r in rates.items()}}
    results = ROOT / "tests/bench/results"
    results.mkdir(exist_ok=True)
    (results / "cpu_training.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"{'':32} {'tokens/s':>9} {'ratio':>6} {'target':>6}")
    print(f"{'PyTorch eager':32} {peer:9.0f}")
    for row in rows:
        print(f"{row['name']:32} {row['value']:9} {row['ratio']:6.3f} {row['target']:6.2f}{'' if row['met'] else '  missed'}")
    sys.exit(0 if all(row["met"] for row in rows) else 1)


if __name__ == "__main__":
    main()
