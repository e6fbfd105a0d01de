/* For LD_PRELOAD: MPI_Send of a library that is opened at run time takes some microseconds longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
static int (*usual)(const void *, int, void *, int, int, void *);
static int late(const void *from, int len, void *of, int peer, int tag, void *comm) {
    for (volatile int turn = 0; turn < 2000; turn++) {}
    return usual(from, len, of, peer, tag, comm);
}
void *dlsym(void *scope, const char *name) {
    void *(*find)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    void *found = find(scope, name);
    if (strcmp(name, "MPI_Send") != 0 || !found) return found;
    usual = found;
    return late;
}
