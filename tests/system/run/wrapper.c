/* Linked statically: becomes the program that it is told, as wrappers written in Go do. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc > 1)
        execv(argv[1], argv + 1);
    perror("wrapper");
    return 127;
}
