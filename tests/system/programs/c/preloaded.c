/* What a user may have in LD_PRELOAD already: replaces a function of the program. */
int preloaded_answer(void);

int preloaded_answer(void) {
    return 1;
}
