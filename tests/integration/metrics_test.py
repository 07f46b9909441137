#!/usr/bin/env python3
"""What Prometheus sees of coordinator and worker: promtool finds nothing to say, a server scrapes both, series do not grow with the
number of jobs (fault case K-04), and the worker's heartbeats do not suffer from starting trainers (C-06).

    metrics_test.py BIN_FOLDER FAKE_TRAINER PROMETHEUS_BIN_FOLDER
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

BIN, FAKE_TRAINER, PROMETHEUS = (pathlib.Path(argument) for argument in sys.argv[1:4])
NUM_JOBS = 200
JOB = """
name: {name}
model: {{vocab_size: 256, hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 2}}
data: {{path: /data}}
plan: {{error_sample_interval: 1}}
steps: {{total: {steps}, sequence_length: 16}}
"""


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def wait_for(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s")


def field_of_log(path, message, field):
    for line in path.read_text().splitlines():
        if line.startswith("{") and json.loads(line).get("message") == message:
            return json.loads(line)[field]
    return None


def num_series(text):
    return sum(1 for line in text.splitlines() if line and not line.startswith("#"))


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.processes = []
        cls.addClassCleanup(cls.stop)
        cls.start("coordinator", BIN / "agoq-coordinator", "--listen-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0",
                  "--state-directory", cls.folder / "coordinator", "--heartbeat-seconds", "0.1")
        log = cls.folder / "coordinator.log"
        cls.address = wait_for("coordinator", lambda: field_of_log(log, "serving", "address"))
        cls.coordinator = field_of_log(log, "serving", "metrics")
        cls.start("worker", BIN / "agoq-worker", "--coordinator", cls.address, "--name", "worker", "--metrics-address", "127.0.0.1:0",
                  "--state-directory", cls.folder / "worker", "--device", "cpu", "--memory-bytes", str(1 << 30), "--trainer",
                  FAKE_TRAINER, "--series-seconds", "0")
        cls.worker = wait_for("worker", lambda: field_of_log(cls.folder / "worker.log", "worker started", "metrics"))
        wait_for("worker is ready", lambda: "agoq_worker_sessions 1" in get(cls.coordinator))

    @classmethod
    def start(cls, name, *command):
        with open(cls.folder / f"{name}.log", "w") as log:
            cls.processes.append(subprocess.Popen([str(part) for part in command], stdout=log, stderr=subprocess.STDOUT,
                                                  env={**os.environ, "AGOQ_FAKE_STEP_MS": "1"}))

    @classmethod
    def stop(cls):
        for process in reversed(cls.processes):
            process.terminate()
            process.wait(timeout=30)

    def agoq(self, *arguments):
        return subprocess.run([BIN / "agoq", "--address", self.address, *arguments], capture_output=True, text=True, check=True).stdout

    def submit(self, name, steps):
        path = self.folder / "job.yaml"
        path.write_text(JOB.format(name=name, steps=steps))
        self.agoq("job", "submit", str(path))

    def test_promtool_has_nothing_to_say(self):
        self.submit("promtool", 5)
        self.agoq("job", "wait", "promtool")
        for url in (self.coordinator, self.worker):
            check = subprocess.run([PROMETHEUS / "promtool", "check", "metrics"], input=get(url), capture_output=True, text=True)
            self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))

    def test_prometheus_scrapes_both(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        targets = [url.split("/")[2] for url in (self.coordinator, self.worker)]
        config = self.folder / "prometheus.yml"
        config.write_text(f"global: {{scrape_interval: 100ms}}\nscrape_configs:\n- job_name: agoq\n  static_configs:\n"
                          f"  - targets: {json.dumps(targets)}\n")
        self.start("prometheus", PROMETHEUS / "prometheus", f"--config.file={config}",
                   f"--storage.tsdb.path={self.folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}")
        self.submit("scraped", 1_000_000)

        def query(text):
            try:
                answer = json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(text)}"))
            except OSError:
                return []
            return answer["data"]["result"]

        self.assertEqual(len(wait_for("both targets", lambda: [t for t in query("up == 1")] if len(query("up == 1")) == 2 else None)), 2)
        loss = wait_for("loss", lambda: query('agoq_loss{training_job="scraped"}'))
        self.assertGreater(float(loss[0]["value"][1]), 0)
        used = wait_for("bytes by site", lambda: query('agoq_memory_planned_bytes{kind="activations"}'))
        self.assertEqual({result["metric"]["site"] for result in used}, {"x1", "q", "k", "v", "o", "x2", "gate", "up"})
        errors = wait_for("errors by site", lambda: query('agoq_quantization_error_ratio{training_job="scraped"}'))
        self.assertTrue(all(float(result["value"][1]) >= 0 for result in errors))
        self.agoq("job", "kill", "scraped", "--wait")

    def test_series_do_not_grow_with_jobs(self):
        self.submit("first", 2)
        self.agoq("job", "wait", "first")
        before = {url: num_series(get(url)) for url in (self.coordinator, self.worker)}
        for k in range(NUM_JOBS):
            self.submit(f"short-{k}", 2)
        wait_for("all jobs end", lambda: re.search(rf'agoq_jobs{{state="queued"}} 0', get(self.coordinator)) and
                 re.search(r'agoq_jobs{state="(starting|running)"} [1-9]', get(self.coordinator)) is None, seconds=180)
        time.sleep(2)  # series of ended attempts are removed at the worker's next look
        for url, count in before.items():
            self.assertLessEqual(num_series(get(url)), count + 20, url)
        self.assertIn('agoq_jobs_finished_total{outcome="succeeded"', get(self.coordinator))
        # The lease is 10 s, and no worker was ever unreachable for want of a heartbeat.
        self.assertIn("agoq_lease_expirations_total 0", get(self.coordinator))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
