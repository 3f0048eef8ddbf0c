/* A disk that fails and a clock that steps, for one process with its children: preloaded, and steered by a shared file.
 *
 * SHIM_CONTROL names the file (struct control), SHIM_FOLDER the folder whose files fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
    atomic_int syncs;  /* this many more calls of fsync fail; below 0: each */
    atomic_int writes; /* the same of writes */
    atomic_int clock_seconds; /* ahead of the machine's clock */
};

static struct control none, *control = &none;
static const char *folder;

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("SHIM_CONTROL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    folder = getenv("SHIM_FOLDER");
    if (shared != MAP_FAILED) control = shared;
}

static int fails(atomic_int *left, int file) {
    char link[64], target[PATH_MAX];
    if (atomic_load(left) == 0 || !folder) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0 || strncmp(target, folder, strlen(folder)) != 0) return 0;
    int before = atomic_load(left);
    while (before > 0 && !atomic_compare_exchange_weak(left, &before, before - 1));
    if (before == 0) return 0;
    errno = EIO;
    return 1;
}

#define FAILING(result, name, left, declared, passed) \
    result name declared { \
        static result(*next) declared; \
        if (fails(&control->left, file)) return -1; \
        if (!next) next = (result(*) declared)dlsym(RTLD_NEXT, #name); \
        return next passed; \
    }

FAILING(int, fsync, syncs, (int file), (file))
FAILING(int, fdatasync, syncs, (int file), (file))
FAILING(ssize_t, write, writes, (int file, const void *bytes, size_t count), (file, bytes, count))
FAILING(ssize_t, writev, writes, (int file, const struct iovec *parts, int count), (file, parts, count))
FAILING(ssize_t, pwrite, writes, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
FAILING(ssize_t, pwrite64, writes, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))
FAILING(ssize_t, pwritev, writes, (int file, const struct iovec *parts, int count, off_t at), (file, parts, count, at))
FAILING(ssize_t, pwritev64, writes, (int file, const struct iovec *parts, int count, off64_t at), (file, parts, count, at))

int clock_gettime(clockid_t clock, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, clock, at);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += atomic_load(&control->clock_seconds);
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
