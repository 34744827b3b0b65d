// Takes the place of the standard library's look-up of characters' names, by the linker's --wrap: nothing here asks for one, and its tables have
// half a megabyte. Says that no character has a name, as the look-up does of those that have none.
#include <stdint.h>

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
    (void)scalar, (void)buffer, (void)capacity;
    return 0;
}
