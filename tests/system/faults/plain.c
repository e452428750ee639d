/* No MPI at all; linked statically for the test of programs that nothing can be preloaded into. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    puts("plain");
    fflush(stdout);
    usleep(500000); /* a launcher ends all others when the first status is not 0 */
    return 4;
}
