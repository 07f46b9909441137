// Completion scripts of shells, made from the parser itself. Pure.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace agoq {

// `shell` is bash, zsh or fish.
std::string CompletionScript(const CLI::App& app, const std::string& shell);

}  // namespace agoq
