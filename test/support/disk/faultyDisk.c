/*
 * A library for LD_PRELOAD. It makes one system call on the files of a folder fail. FAULTY_FOLDER is the folder. FAULTY_CONTROL is
 * a file with the line "<trial> <kind> <number>". The call with this number fails. With the kinds ENOSPC and EIO, all later calls
 * also fail. A failed call creates the file "<control>.hit". Kinds: none, ENOSPC, EIO, short, fsync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Reads a small file without the functions that fail. */
static int read_control(char *text, size_t size) {
  const char *path = getenv("FAULTY_CONTROL");
  if (path == NULL) return 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  long length = syscall(SYS_read, fd, text, size - 1);
  syscall(SYS_close, fd);
  if (length <= 0) return 0;
  text[length] = 0;
  return 1;
}

static int is_in_folder(int fd) {
  const char *folder = getenv("FAULTY_FOLDER");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (folder == NULL || length < 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

/* The error of a call: 0 for none, -1 for a short write. */
static int fault_of(int fd, int is_sync) {
  static long trial = -1, calls = 0;
  char text[128], kind[16];
  long wanted_trial, number;
  if (!is_in_folder(fd) || !read_control(text, sizeof text)) return 0;
  if (sscanf(text, "%ld %15s %ld", &wanted_trial, kind, &number) != 3) return 0;
  if (strcmp(kind, "none") == 0) return 0;
  if (is_sync ? strcmp(kind, "short") == 0 : strcmp(kind, "fsync") == 0) return 0;
  pthread_mutex_lock(&lock);
  if (trial != wanted_trial) calls = 0;
  trial = wanted_trial;
  long call = ++calls;
  pthread_mutex_unlock(&lock);
  int is_lasting = kind[0] == 'E';
  if (call < number || (call > number && !is_lasting)) return 0;
  char hit[4096];
  snprintf(hit, sizeof hit, "%s.hit", getenv("FAULTY_CONTROL"));
  int made = (int)syscall(SYS_openat, AT_FDCWD, hit, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (made >= 0) syscall(SYS_close, made);
  if (strcmp(kind, "short") == 0) return -1;
  return strcmp(kind, "ENOSPC") == 0 ? ENOSPC : EIO;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_OR(fault, call) ((fault) > 0 ? (errno = (fault), -1) : (call))
#define LESS(fault, size) ((fault) < 0 && (size) > 1 ? (size) / 2 : (size))

ssize_t write(int fd, const void *bytes, size_t size) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(write)(fd, bytes, LESS(fault, size)));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(pwrite)(fd, bytes, LESS(fault, size), offset));
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(pwrite64)(fd, bytes, LESS(fault, size), offset));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(writev)(fd, parts, LESS(fault, count)));
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(pwritev)(fd, parts, LESS(fault, count), offset));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(pwritev64)(fd, parts, LESS(fault, count), offset));
}

int fsync(int fd) {
  int fault = fault_of(fd, 1);
  return FAIL_OR(fault, REAL(fsync)(fd));
}

int fdatasync(int fd) {
  int fault = fault_of(fd, 1);
  return FAIL_OR(fault, REAL(fdatasync)(fd));
}

int ftruncate(int fd, off_t size) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(ftruncate)(fd, size));
}

int ftruncate64(int fd, off64_t size) {
  int fault = fault_of(fd, 0);
  return FAIL_OR(fault, REAL(ftruncate64)(fd, size));
}
