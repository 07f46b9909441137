#!/usr/bin/env python3
"""The lint finds what it is there for: each test plants one fault in a good tree."""

import pathlib
import shutil
import tempfile
import unittest

import check_tree

GOOD = {
    "kernels/quant_spec.h": "#pragma once\n#include <cstdint>\n",
    "kernels/ops/quantize.h": '#include <ATen/core/Tensor.h>\n\n#include "kernels/quant_spec.h"\n',
    "worker/plan/bit_plan.h": '#include <vector>\n\n#include "kernels/quant_spec.h"\n',
    "worker/trainer/job_options.cc": '#include "proto/agoq/v1/job.pb.h"\n#include "worker/plan/bit_plan.h"\n',
    "tests/unit/model/linear_test.cc": "#include <torch/torch.h>\n",
}


class CheckTreeTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.write(".gitignore", "/build/\n")
        self.write(".clang-format", "BasedOnStyle: Google\nColumnLimit: 100\n")
        for path, text in GOOD.items():
            self.write(path, text)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def assert_finds(self, *words):
        problems = check_tree.check_tree(self.root)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_passes_a_good_tree(self):
        self.assertEqual(check_tree.check_tree(self.root), [])

    def test_ignores_what_git_ignores(self):
        self.write("build/kernels/x.cc", "#include <torch/torch.h>\n")
        self.assertEqual(check_tree.check_tree(self.root), [])

    def test_finds_a_stranger_at_the_top_level(self):
        self.write("notes.md", "x\n")
        self.assert_finds("notes.md", "top level")

    def test_finds_torch_h_outside_of_tests(self):
        self.write("worker/model/block.cc", "#include <torch/torch.h>\n")
        self.assert_finds("worker/model/block.cc", "torch/torch.h")

    def test_finds_grpc_in_the_engine(self):
        self.write("worker/train/trainer.cc", "#include <grpcpp/grpcpp.h>\n")
        self.assert_finds("worker/train/trainer.cc", "grpc")

    def test_finds_abseil_prometheus_and_sqlite_below_the_trainer(self):
        for header in ("absl/status/status.h", "prometheus/counter.h", "sqlite3.h"):
            self.write("worker/model/block.cc", f"#include <{header}>\n")
            self.assert_finds("worker/model/block.cc", header)

    def test_finds_abseil_in_the_trainer(self):
        self.write("worker/trainer/main.cc", "#include <absl/status/status.h>\n")
        self.assert_finds("worker/trainer/main.cc", "absl")

    def test_finds_services_in_the_trainer(self):
        self.write("worker/trainer/main.cc", '#include "proto/agoq/v1/job_service.grpc.pb.h"\n')
        self.assert_finds("worker/trainer/main.cc", "grpc")

    def test_finds_a_daemons_header_in_the_trainer(self):
        self.write("worker/trainer/main.cc", '#include "proto/common/status.h"\n')
        self.assert_finds("worker/trainer/main.cc", "proto/common/status.h", "gRPC")

    def test_finds_abseil_and_grpc_where_the_trainer_links_too(self):
        for header in ("absl/status/status.h", "grpcpp/grpcpp.h", "prometheus/registry.h", "CivetServer.h",
                       "google/rpc/status.pb.h"):
            self.write("proto/common/message_socket.cc", f"#include <{header}>\n")
            self.assert_finds("proto/common/message_socket.cc", header)

    def test_finds_a_daemons_header_where_the_trainer_links_too(self):
        self.write("proto/common/spec.cc", '#include "proto/common/log.h"\n')
        self.assert_finds("proto/common/spec.cc", "proto/common/log.h", "gRPC")

    def test_passes_services_where_daemons_alone_link(self):
        self.write("proto/common/status.h", '#include <absl/status/status.h>\n\n#include "proto/common/spec.h"\n')
        self.write("server/calls.cc", '#include "proto/agoq/v1/job_service.grpc.pb.h"\n#include "proto/common/status.h"\n')
        self.assertEqual(check_tree.check_tree(self.root), [])

    def test_finds_messages_in_the_engine(self):
        self.write("worker/train/trainer.cc", '#include "proto/agoq/v1/job.pb.h"\n')
        self.assert_finds("worker/train/trainer.cc", "messages")

    def test_finds_libtorch_in_a_daemon(self):
        self.write("server/placement.cc", "#include <ATen/core/Tensor.h>\n")
        self.assert_finds("server/placement.cc", "torch")

    def test_finds_libtorch_in_a_kernel(self):
        self.write("kernels/cuda/quantize.cu", "// clang-format off\n#include <c10/core/Storage.h>\n")
        self.assert_finds("kernels/cuda/quantize.cu", "torch")

    def test_finds_an_engine_header_in_the_client(self):
        self.write("client/submit.cc", '#include "worker/train/trainer.h"\n')
        self.assert_finds("client/submit.cc", "worker/train/trainer.h")

    def test_finds_a_lower_layer_that_uses_a_higher_one(self):
        self.write("worker/plan/memory_model.cc", '#include "worker/model/block.h"\n')
        self.assert_finds("worker/plan/memory_model.cc", "worker/model/block.h")

    def test_finds_tests_used_by_the_product(self):
        self.write("worker/model/block.cc", '#include "tests/support/random.h"\n')
        self.assert_finds("worker/model/block.cc", "tests/support/random.h")

    def test_finds_a_file_that_sees_messages_and_tensors(self):
        self.write("worker/trainer/main.cc",
                   '#include <ATen/core/Tensor.h>\n\n#include "proto/agoq/v1/job.pb.h"\n')
        self.assert_finds("worker/trainer/main.cc", "both")

    def test_finds_messages_and_tensors_that_meet_through_headers(self):
        self.write("proto/common/spec.h", '#include "proto/agoq/v1/job.pb.h"\n')
        self.write("worker/train/evaluate.h", "#include <ATen/core/Tensor.h>\n")
        self.write("worker/trainer/main.cc", '#include "proto/common/spec.h"\n#include "worker/train/evaluate.h"\n')
        self.assert_finds("worker/trainer/main.cc", "both")

    def test_finds_a_long_file(self):
        self.write("kernels/ref/long.cc", "int x;\n" * 501)
        self.assert_finds("kernels/ref/long.cc", "501 lines")

    def test_finds_a_folder_without_a_layer(self):
        self.write("worker/misc/x.cc", "#include <vector>\n")
        self.assert_finds("worker/misc/x.cc", "no layer")

    @unittest.skipIf(shutil.which("clang-format") is None, "clang-format is not installed")
    def test_finds_code_that_is_not_formatted(self):
        self.write("kernels/ref/crooked.cc", "int   f( ){return 1;}\n")
        if check_tree.check_format(self.root, ["kernels/ref/crooked.cc"]):
            self.assert_finds("kernels/ref/crooked.cc", "clang-format")
        else:
            self.skipTest("clang-format has another version")


if __name__ == "__main__":
    unittest.main()
