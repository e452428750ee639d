/* No MPI at all; linked statically for the test of programs that nothing can be preloaded into. */
#include <stdio.h>

int main(void) {
    puts("plain");
    return 4;
}
