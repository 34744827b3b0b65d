#define _GNU_SOURCE
#include "duplex_build.h"

#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) const char duplex_build_commit[] = "";

const char *duplex_commit(void) { return duplex_build_commit; }

struct visitor {
    void (*visit)(const char *path, void *context);
    void *context;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *data) {
    const struct visitor *visitor = data;
    char file[PATH_MAX];
    (void)size;
    // The program itself has no name, and the kernel's object no file. Names of files say more of a version than names of libraries.
    if (info->dlpi_name != NULL && realpath(info->dlpi_name, file) != NULL && strstr(file, ".so") != NULL)
        visitor->visit(file, visitor->context);
    return 0;
}

void duplex_visit_libraries(void (*visit)(const char *path, void *context), void *context) {
    struct visitor visitor = {visit, context};
    dl_iterate_phdr(visit_object, &visitor);
}
