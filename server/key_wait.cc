#include "server/key_wait.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/common/grpc_status.h"

namespace agoq {

std::shared_ptr<KeyWait> KeyWait::Start(std::string key, v1::WaitKeyResponse* response) {
  std::shared_ptr<KeyWait> wait(new KeyWait(std::move(key), response));
  wait->self_ = wait;
  return wait;
}

void KeyWait::End(const absl::StatusOr<std::string>& value) {
  {
    const absl::MutexLock lock(&mutex_);
    if (response_ == nullptr) return;
    if (value.ok()) response_->set_value(*value);
    response_ = nullptr;
  }
  Finish(ToGrpc(value.status()));
}

void KeyWait::OnCancel() {
  End(absl::DeadlineExceededError(absl::StrCat("key ", key_, ": nobody set it in time")));
}

}  // namespace agoq
