// The C11 threads of <threads.h> by POSIX threads, for builds under the thread sanitizer. The sanitizer follows POSIX
// threads alone, and librdkafka uses C11's: it would start threads that the sanitizer does not know, and take locks
// that it does not see. In glibc both are the same objects, and a program's own definitions come before the
// library's.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(start->function(start->argument)));
}

int result_of(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

pthread_mutex_t* posix(mtx_t* mutex) {
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* posix(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = pthread_create(thread, nullptr, run, start.get());
  if (error == 0) static_cast<void>(start.release());
  return result_of(error);
}

int thrd_join(thrd_t thread, int* code) {
  void* value = nullptr;
  const int error = pthread_join(thread, &value);
  if (error == 0 && code != nullptr) *code = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return result_of(error);
}

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes,
                            (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int error = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return result_of(error);
}
void mtx_destroy(mtx_t* mutex) {
  pthread_mutex_destroy(posix(mutex));
}
int mtx_lock(mtx_t* mutex) {
  return result_of(pthread_mutex_lock(posix(mutex)));
}
int mtx_unlock(mtx_t* mutex) {
  return result_of(pthread_mutex_unlock(posix(mutex)));
}

int cnd_init(cnd_t* condition) {
  return result_of(pthread_cond_init(posix(condition), nullptr));
}
void cnd_destroy(cnd_t* condition) {
  pthread_cond_destroy(posix(condition));
}
int cnd_signal(cnd_t* condition) {
  return result_of(pthread_cond_signal(posix(condition)));
}
int cnd_broadcast(cnd_t* condition) {
  return result_of(pthread_cond_broadcast(posix(condition)));
}
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return result_of(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* __restrict condition, mtx_t* __restrict mutex, const timespec* __restrict until) {
  return result_of(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

}  // extern "C"
