/* Makes a program count PRETEND_CORES cores, whatever the machine has, if LD_PRELOAD names this library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pretended(void) {
  const char* text = getenv("PRETEND_CORES");
  return text == NULL ? 1 : atoi(text);
}

static void fill(size_t bytes, cpu_set_t* set) {
  memset(set, 0, bytes);
  for (int core = 0; core < pretended(); ++core) CPU_SET_S((size_t)core, bytes, set);
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t* set) {
  (void)pid;
  fill(bytes, set);
  return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) {
  (void)thread;
  fill(bytes, set);
  return 0;
}

/* Ignores the mask, because it may contain cores that do not exist. */
int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t* set) {
  (void)pid, (void)bytes, (void)set;
  return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
  (void)thread, (void)bytes, (void)set;
  return 0;
}

int get_nprocs(void) { return pretended(); }
int get_nprocs_conf(void) { return pretended(); }

long sysconf(int name) {
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return pretended();
  long (*const real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return real(name);
}
