/* Records what a process does to the files below a folder, in order, so that a test can rebuild what a disk may hold
 * after a power cut. Loaded by LD_PRELOAD; POWERCUT_ROOT names the folder, POWERCUT_LOG the record, POWERCUT_NOTES a
 * file whose writes are recorded as the process's own notes ("event 7 is acknowledged").
 *
 * A record is: kind (1 byte), inode (8), offset (8), length of what follows (4), little endian, then the bytes.
 *   C create  path          W write  data       T truncate (offset: the size)   S sync of a file
 *   M mkdir   path          U unlink path       R rename   old NUL new          D sync of a folder, path   N note
 *
 * What goes through mmap (SQLite's -shm) is not seen, and need not survive.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS 4096
#define REAL(name) ((__typeof__(&name))real(#name))

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER; /* an operation and its record are one step */
static char *paths[DESCRIPTORS];
static const char *root, *notes;
static int record_fd = -1;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
    root = getenv("POWERCUT_ROOT");
    notes = getenv("POWERCUT_NOTES");
    const char *path = getenv("POWERCUT_LOG");
    if (root && path)
        record_fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *data, size_t size) {
    const char *next = data;
    while (size) {
        ssize_t done = syscall(SYS_write, record_fd, next, size);
        if (done <= 0)
            abort(); /* a record with a hole would prove nothing */
        next += done;
        size -= done;
    }
}

static void record(char kind, uint64_t inode, int64_t offset, const void *data, uint32_t size) {
    char head[21];
    head[0] = kind;
    memcpy(head + 1, &inode, 8);
    memcpy(head + 9, &offset, 8);
    memcpy(head + 17, &size, 4);
    put(head, sizeof head);
    put(data, size);
}

static int is_below(const char *path) { return record_fd >= 0 && path && !strncmp(path, root, strlen(root)); }

static int is_noted(const char *path) { return record_fd >= 0 && path && notes && !strcmp(path, notes); }

static const char *path_of(int fd) { return fd >= 0 && fd < DESCRIPTORS ? paths[fd] : NULL; }

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

static void on_write(int fd, const void *data, ssize_t done, off64_t offset) {
    const char *path = path_of(fd);
    if (done <= 0 || !path)
        return;
    if (is_noted(path))
        record('N', 0, 0, data, done);
    else
        record('W', inode_of(fd), offset, data, done);
}

static int opened(const char *path, int flags, mode_t mode) {
    if (!is_below(path) && !is_noted(path))
        return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    pthread_mutex_lock(&order);
    int is_new = access(path, F_OK) != 0;
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < DESCRIPTORS) {
        paths[fd] = strdup(path);
        if (is_new && is_below(path))
            record('C', inode_of(fd), 0, path, strlen(path));
        else if ((flags & O_TRUNC) && is_below(path))
            record('T', inode_of(fd), 0, "", 0);
    }
    pthread_mutex_unlock(&order);
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                                                      \
        va_end(rest);                                                                                                  \
        return opened(path, flags, mode);                                                                              \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    pthread_mutex_lock(&order);
    if (path_of(fd)) {
        free(paths[fd]);
        paths[fd] = NULL;
    }
    pthread_mutex_unlock(&order);
    return syscall(SYS_close, fd);
}

ssize_t write(int fd, const void *data, size_t size) {
    if (!path_of(fd))
        return REAL(write)(fd, data, size);
    pthread_mutex_lock(&order);
    off64_t offset = lseek64(fd, 0, SEEK_CUR);
    ssize_t done = REAL(write)(fd, data, size);
    on_write(fd, data, done, offset);
    pthread_mutex_unlock(&order);
    return done;
}

#define PWRITE(name, offset_type)                                                                                      \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) {                                          \
        pthread_mutex_lock(&order);                                                                                    \
        ssize_t done = REAL(name)(fd, data, size, offset);                                                             \
        on_write(fd, data, done, offset);                                                                              \
        pthread_mutex_unlock(&order);                                                                                  \
        return done;                                                                                                   \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FTRUNCATE(name, size_type)                                                                                     \
    int name(int fd, size_type size) {                                                                                 \
        pthread_mutex_lock(&order);                                                                                    \
        int failed = REAL(name)(fd, size);                                                                             \
        if (!failed && path_of(fd))                                                                                    \
            record('T', inode_of(fd), size, "", 0);                                                                    \
        pthread_mutex_unlock(&order);                                                                                  \
        return failed;                                                                                                 \
    }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define SYNC(name)                                                                                                     \
    int name(int fd) {                                                                                                 \
        pthread_mutex_lock(&order);                                                                                    \
        int failed = REAL(name)(fd);                                                                                   \
        struct stat found;                                                                                             \
        if (!failed && path_of(fd) && !fstat(fd, &found)) {                                                            \
            if (S_ISDIR(found.st_mode))                                                                                \
                record('D', 0, 0, paths[fd], strlen(paths[fd]));                                                       \
            else                                                                                                       \
                record('S', found.st_ino, 0, "", 0);                                                                   \
        }                                                                                                              \
        pthread_mutex_unlock(&order);                                                                                  \
        return failed;                                                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    pthread_mutex_lock(&order);
    int failed = REAL(unlink)(path);
    if (!failed && is_below(path))
        record('U', 0, 0, path, strlen(path));
    pthread_mutex_unlock(&order);
    return failed;
}

int rename(const char *old, const char *new) {
    pthread_mutex_lock(&order);
    int failed = REAL(rename)(old, new);
    if (!failed && is_below(old)) {
        size_t first = strlen(old) + 1, second = strlen(new);
        char *both = malloc(first + second);
        memcpy(both, old, first);
        memcpy(both + first, new, second);
        record('R', 0, 0, both, first + second);
        free(both);
    }
    pthread_mutex_unlock(&order);
    return failed;
}

int mkdir(const char *path, mode_t mode) {
    pthread_mutex_lock(&order);
    int failed = REAL(mkdir)(path, mode);
    if (!failed && is_below(path))
        record('M', 0, 0, path, strlen(path));
    pthread_mutex_unlock(&order);
    return failed;
}
