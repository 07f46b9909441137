#include "server/job_state.h"

#include <algorithm>
#include <array>

namespace agoq {
namespace {

template <typename State>
struct Move {
  State from;
  State to;
};

constexpr std::array kJobMoves = {
    Move{v1::JOB_STATE_QUEUED, v1::JOB_STATE_STARTING},
    Move{v1::JOB_STATE_QUEUED, v1::JOB_STATE_CANCELLED},
    Move{v1::JOB_STATE_QUEUED, v1::JOB_STATE_PAUSED},
    Move{v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING},
    Move{v1::JOB_STATE_STARTING, v1::JOB_STATE_QUEUED},
    Move{v1::JOB_STATE_STARTING, v1::JOB_STATE_RECOVERING},
    Move{v1::JOB_STATE_STARTING, v1::JOB_STATE_STOPPING},
    Move{v1::JOB_STATE_RUNNING, v1::JOB_STATE_SUCCEEDED},
    Move{v1::JOB_STATE_RUNNING, v1::JOB_STATE_RECOVERING},
    Move{v1::JOB_STATE_RUNNING, v1::JOB_STATE_STOPPING},
    Move{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_QUEUED},
    Move{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_FAILED},
    Move{v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING},
    // Its last step may come before the stop does.
    Move{v1::JOB_STATE_STOPPING, v1::JOB_STATE_SUCCEEDED},
    Move{v1::JOB_STATE_STOPPING, v1::JOB_STATE_CANCELLED},
    Move{v1::JOB_STATE_STOPPING, v1::JOB_STATE_PAUSED},
    Move{v1::JOB_STATE_STOPPING, v1::JOB_STATE_QUEUED},
    Move{v1::JOB_STATE_STOPPING, v1::JOB_STATE_FAILED},
    Move{v1::JOB_STATE_PAUSED, v1::JOB_STATE_QUEUED},
    Move{v1::JOB_STATE_PAUSED, v1::JOB_STATE_CANCELLED},
};

constexpr std::array kAttemptMoves = {
    Move{v1::ATTEMPT_STATE_RESERVED, v1::ATTEMPT_STATE_PREPARING},
    Move{v1::ATTEMPT_STATE_RESERVED, v1::ATTEMPT_STATE_ENDED},
    Move{v1::ATTEMPT_STATE_PREPARING, v1::ATTEMPT_STATE_RUNNING},
    Move{v1::ATTEMPT_STATE_PREPARING, v1::ATTEMPT_STATE_STOPPING},
    Move{v1::ATTEMPT_STATE_RUNNING, v1::ATTEMPT_STATE_STOPPING},
    Move{v1::ATTEMPT_STATE_RUNNING, v1::ATTEMPT_STATE_ENDED},
    Move{v1::ATTEMPT_STATE_STOPPING, v1::ATTEMPT_STATE_ENDED},
};

constexpr std::array kTerminal = {v1::JOB_STATE_SUCCEEDED, v1::JOB_STATE_FAILED,
                                  v1::JOB_STATE_CANCELLED};
constexpr std::array kActive = {v1::JOB_STATE_STARTING, v1::JOB_STATE_RUNNING,
                                v1::JOB_STATE_RECOVERING, v1::JOB_STATE_STOPPING};

template <typename Moves, typename State>
bool Holds(const Moves& moves, State from, State to) {
  return std::any_of(moves.begin(), moves.end(),
                     [&](const Move<State>& move) { return move.from == from && move.to == to; });
}

template <typename States>
bool IsOneOf(const States& states, v1::JobState state) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

}  // namespace

bool MayMove(v1::JobState from, v1::JobState to) { return Holds(kJobMoves, from, to); }
bool MayMove(v1::AttemptState from, v1::AttemptState to) { return Holds(kAttemptMoves, from, to); }

bool IsTerminal(v1::JobState state) { return IsOneOf(kTerminal, state); }
bool IsActive(v1::JobState state) { return IsOneOf(kActive, state); }

bool IsMoreSevere(v1::JobState target, v1::JobState than) {
  return than == v1::JOB_STATE_PAUSED && target == v1::JOB_STATE_CANCELLED;
}

}  // namespace agoq
