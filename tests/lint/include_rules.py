"""Who may include what: the layers of the product as a table.

A folder is described by the longest prefix in LAYERS. Its files may include project headers below the
prefixes in `uses` (their own folder always) and the outside libraries named in `libraries`.
"""

import dataclasses
import re

# Outside libraries by the start of the include path.
LIBRARIES = {
    "torch": ("ATen/", "torch/", "c10/"),
    "gloo": ("gloo/", "nccl.h"),
    "cuda": ("cuda", "cub/", "thrust/", "nvml.h"),
    "protobuf": ("google/protobuf/",),
    "messages": ("proto/agoq/v1/",),  # generated headers
    "error details": ("google/rpc/",),  # generated headers
    "grpc": ("grpc/", "grpc++/", "grpcpp/"),
    "absl": ("absl/",),
    "prometheus": ("prometheus/", "CivetServer.h", "civetweb.h"),
    "sqlite": ("sqlite3",),
    "yaml": ("yaml-cpp/",),
    "json": ("nlohmann/",),
    "spdlog": ("spdlog/", "fmt/"),
    "openssl": ("openssl/",),
    "cli11": ("CLI/",),
}
SERVICES = ".grpc.pb.h"  # generated headers that need gRPC
MESSAGE_LIBRARIES = {"protobuf", "messages", "yaml", "json"}
DAEMON_LIBRARIES = MESSAGE_LIBRARIES | {"error details", "grpc", "absl", "prometheus", "spdlog", "cli11"}
PLAN = ("worker/plan/",)
KERNELS = ("kernels/",)


@dataclasses.dataclass(frozen=True)
class Layer:
    uses: tuple = ()
    libraries: frozenset = frozenset()


def layer(uses=(), libraries=()):
    return Layer(tuple(uses), frozenset(libraries))


LAYERS = {
    "kernels/": layer(),  # quant_spec.h, launch_config.h
    "kernels/ref/": layer(["kernels/quant_spec.h"]),
    "kernels/cuda/": layer(["kernels/quant_spec.h", "kernels/launch_config.h"], ["cuda"]),
    "kernels/ops/": layer(KERNELS, ["torch"]),
    "worker/plan/": layer(["kernels/quant_spec.h"]),
    "worker/memory/": layer(KERNELS + PLAN, ["torch"]),
    "worker/model/": layer(KERNELS + PLAN + ("worker/memory/",), ["torch"]),
    "worker/comm/": layer(KERNELS + PLAN + ("worker/memory/",), ["torch", "gloo", "cuda", "spdlog"]),
    "worker/data/": layer([], ["torch"]),
    "worker/train/": layer(
        KERNELS + PLAN + ("worker/memory/", "worker/model/", "worker/comm/", "worker/data/"),
        ["torch", "json", "spdlog", "openssl"]),
    "worker/trainer/": layer(
        PLAN + ("kernels/quant_spec.h", "worker/memory/", "worker/comm/", "worker/data/", "worker/train/", "proto/"),
        ["torch", "json", "spdlog", "protobuf", "messages", "cli11"]),
    "worker/daemon/": layer(PLAN + ("proto/",), DAEMON_LIBRARIES),
    "proto/common/": layer(PLAN + ("kernels/quant_spec.h",), MESSAGE_LIBRARIES),  # the trainer links it too
    "server/": layer(PLAN + ("proto/",), DAEMON_LIBRARIES | {"sqlite"}),
    "client/": layer(PLAN + ("proto/",), DAEMON_LIBRARIES),
    "tests/": layer(["kernels/", "worker/", "proto/", "server/", "client/"], LIBRARIES),
}
# The files of proto/common that only daemons and the client may use, by their names without ending.
SERVICE_FILES = ("channel", "daemon_options", "grpc_status", "http_endpoint", "lifecycle", "log", "status", "version")
SERVICE_LAYERS = tuple(f"proto/common/{name}." for name in SERVICE_FILES)
LAYERS |= {name: layer(("proto/common/",), DAEMON_LIBRARIES) for name in SERVICE_LAYERS}
PROJECT_FOLDERS = ("kernels/", "worker/", "proto/", "server/", "client/", "tests/")
# Headers that take 7 s and more to compile: single headers serve.
HEAVY = ("torch/torch.h", "torch/all.h", "torch/extension.h", "ATen/ATen.h")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)


def includes_of(text):
    return INCLUDE.findall(text)


def library_of(include):
    if include.endswith(SERVICES):
        return "grpc"
    for name, prefixes in LIBRARIES.items():
        if include.startswith(prefixes):
            return name
    return None


def layer_of(path):
    prefixes = [prefix for prefix in LAYERS if path.startswith(prefix)]
    return max(prefixes, key=len, default=None)


def folder_of(path):
    return path.rpartition("/")[0] + "/"


def problem_with(path, include):
    """Why `path` may not include `include`; None: it may."""
    own = layer_of(path)
    if own is None:
        return "stands in a folder that no layer owns"
    if include in HEAVY and not path.startswith("tests/"):
        return f"includes {include}; use the single headers (ATen/ops/...)"
    rules = LAYERS[own]
    library = library_of(include)
    if library is not None:
        return None if library in rules.libraries else f"includes {include}; {own} may not use {library}"
    if not include.startswith(PROJECT_FOLDERS):
        return None  # standard and system headers
    if layer_of(include) in SERVICE_LAYERS and "grpc" not in rules.libraries:
        return f"includes {include}; {own} may not use what needs gRPC and Abseil"
    if layer_of(include) == own or include.startswith(rules.uses):
        return None
    return f"includes {include}; {own} may use only {', '.join(rules.uses) or 'itself'}"


def mixed_worlds(includes_by_path):
    """Files that see both a protobuf header and a LibTorch header, also through headers of the project."""
    worlds = {}

    def worlds_of(path, open_paths):
        if path in worlds:
            return worlds[path]
        if path in open_paths:
            return frozenset()
        seen = set()
        for include in includes_by_path.get(path, ()):
            if include.endswith(".pb.h") or library_of(include) == "protobuf":
                seen.add("protobuf")
            elif library_of(include) == "torch":
                seen.add("torch")
            else:
                seen |= worlds_of(include, open_paths | {path})
        worlds[path] = frozenset(seen)
        return worlds[path]

    return sorted(path for path in includes_by_path if len(worlds_of(path, frozenset())) == 2)
