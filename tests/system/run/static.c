/* Linked statically: cannot be measured. Prints whatever its environment has of Latecomer's, with
 * "environment". */
#include <stdio.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv) {
    puts("static");
    for (char **word = environ; argc > 1 && strcmp(argv[1], "environment") == 0 && *word; word++)
        if (strncmp(*word, "LATECOMER_", 10) == 0 || strncmp(*word, "LD_PRELOAD", 10) == 0 ||
            strncmp(*word, "ASAN_OPTIONS", 12) == 0)
            puts(*word);
    return 5;
}
