/* Files written by name: whole or not at all; devices, FIFOs, descriptors and links are what they
 * were; modes; folders that are missing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <dirent.h>

#include <cmocka.h>

#include "base/outfile.h"

static const char text[] = "new";

static int enter(void **state) {
    static char folder[64];
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/outfile-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("tmp", 0777) != 0 ||
           setenv("TMPDIR", "tmp", 1) != 0;
}

/* Fails if anything is left that a test did not take away itself. */
static int leave(void **state) {
    char folder[256];
    (void)state;
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(rmdir("tmp"), 0);
    assert_int_equal(chdir("/"), 0);
    return rmdir(folder);
}

static void put(const char *path, const char *content) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void check(const char *path, const char *content) {
    char held[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    held[fread(held, 1, sizeof held - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(held, content);
}

static mode_t type_of(const char *path) {
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & S_IFMT;
}

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static enum lc_err write_new(const char *path) {
    return lc_outfile_put(path, text, strlen(text));
}

static int entries(void) {
    DIR *dir = opendir(".");
    int n = -3; /* "." and "..", and tmp */
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

/* Nothing is to be seen under the name before the end, and nothing else after it. */
static void whole_or_not(void **state) {
    struct lc_outfile file;
    (void)state;
    put("x", "old");
    assert_int_equal(lc_outfile_open(&file, "x"), LC_OK);
    assert_true(fputs(text, lc_outfile_stream(&file)) >= 0);
    fflush(file.stream);
    check("x", "old");
    check(file.partial, text);
    lc_outfile_abandon(&file);
    check("x", "old");
    assert_int_equal(entries(), 1);
    assert_int_equal(write_new("x"), LC_OK);
    check("x", text);
    assert_int_equal(write_new("y"), LC_OK);
    assert_int_equal(entries(), 2);
    unlink("x");
    unlink("y");
}

/* By descriptor, at any place, and by name. */
static void any_order(void **state) {
    struct lc_outfile file;
    (void)state;
    assert_int_equal(lc_outfile_open(&file, "x"), LC_OK);
    assert_int_equal(pwrite(file.fd, "cd", 2, 2), 2);
    assert_int_equal(pwrite(file.fd, "ab", 2, 0), 2);
    assert_int_equal(lc_outfile_commit(&file), LC_OK);
    check("x", "abcd");
    assert_int_equal(lc_outfile_open(&file, "x"), LC_OK);
    put(file.partial, "by name");
    assert_int_equal(lc_outfile_commit(&file), LC_OK);
    check("x", "by name");
    unlink("x");
}

static void modes(void **state) {
    (void)state;
    mode_t before = umask(027);
    assert_int_equal(write_new("x"), LC_OK);
    assert_int_equal(mode_of("x"), 0640);
    const mode_t kept[] = {0600, 0444, 0666, 0755};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        chmod("x", kept[i]);
        assert_int_equal(write_new("x"), LC_OK);
        assert_int_equal(mode_of("x"), kept[i]);
    }
    umask(before);
    unlink("x");
}

static void links(void **state) {
    (void)state;
    mkdir("far", 0777);
    put("far/target", "old");
    assert_int_equal(symlink("far/target", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    assert_int_equal(write_new("two"), LC_OK);
    assert_true(type_of("one") == S_IFLNK && type_of("two") == S_IFLNK);
    check("far/target", text);
    assert_int_equal(symlink("../made", "far/dangling"), 0);
    assert_int_equal(write_new("far/dangling"), LC_OK);
    assert_true(type_of("far/dangling") == S_IFLNK && type_of("made") == S_IFREG);
    check("made", text);
    assert_int_equal(symlink("circle", "circle"), 0);
    assert_int_equal(write_new("circle"), LC_ERR_IO);
    const char *const all[] = {"far/target", "far/dangling", "one", "two", "made", "circle"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(unlink(all[i]), 0);
    assert_int_equal(rmdir("far"), 0);
}

static void *read_fifo(void *held) {
    FILE *file = fopen("fifo", "r");
    size_t n = file != NULL ? fread(held, 1, 99, file) : 0;
    ((char *)held)[n] = '\0';
    if (file != NULL)
        fclose(file);
    return NULL;
}

/* The bytes come through, or the reader sees an end. */
static void fifos(void **state) {
    struct lc_outfile file;
    char held[100];
    pthread_t reader;
    (void)state;
    assert_int_equal(mkfifo("fifo", 0666), 0);
    assert_int_equal(symlink("fifo", "link"), 0);
    const char *const names[] = {"fifo", "link"};
    for (size_t i = 0; i < 2; i++) {
        pthread_create(&reader, NULL, read_fifo, held);
        assert_int_equal(write_new(names[i]), LC_OK);
        pthread_join(reader, NULL);
        assert_string_equal(held, text);
    }
    pthread_create(&reader, NULL, read_fifo, held);
    assert_int_equal(lc_outfile_open(&file, "fifo"), LC_OK);
    assert_int_equal(pwrite(file.fd, "half", 4, 0), 4);
    lc_outfile_abandon(&file);
    pthread_join(reader, NULL);
    assert_string_equal(held, "");
    assert_true(type_of("fifo") == S_IFIFO);
    unlink("fifo");
    unlink("link");
}

/* Devices of our own: those in /dev are not at stake. Only root may make them. */
static void devices(void **state) {
    (void)state;
    if (mknod("full", S_IFCHR | 0666, makedev(1, 7)) != 0)
        skip();
    assert_int_equal(mknod("null", S_IFCHR | 0666, makedev(1, 3)), 0);
    int fd = open("full", O_WRONLY);
    close(fd);
    if (fd >= 0) { /* not on a file system without devices */
        assert_int_equal(write_new("full"), LC_ERR_IO);
        assert_non_null(strstr(lc_err_text(), "full: cannot be written: No space"));
        assert_int_equal(write_new("null"), LC_OK);
    }
    assert_true(type_of("full") == S_IFCHR && type_of("null") == S_IFCHR);
    unlink("full");
    unlink("null");
}

static void sockets(void **state) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int ends[2];
    char name[32], held[100] = "";
    (void)state;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(write_new("socket"), LC_ERR_IO);
    assert_true(type_of("socket") == S_IFSOCK);
    close(fd);
    unlink("socket");
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); /* as standard output may be */
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(write_new(name), LC_OK);
    assert_int_equal(read(ends[1], held, 99), (int)strlen(text));
    assert_string_equal(held, text);
    close(ends[0]);
    close(ends[1]);
}

/* /dev/stdout is a link to such a name: what was written before stays. */
static void descriptors(void **state) {
    char name[32];
    (void)state;
    int fd = open("x", O_WRONLY | O_CREAT, 0666);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(symlink(name, "link"), 0);
    assert_int_equal(write(fd, "first ", 6), 6);
    assert_int_equal(write_new(name), LC_OK);
    assert_int_equal(write_new("link"), LC_OK);
    assert_int_equal(write(fd, " last", 5), 5);
    close(fd);
    check("x", "first newnew last");
    assert_true(type_of("link") == S_IFLNK);
    assert_int_equal(write_new(name), LC_ERR_IO);
    unlink("x");
    unlink("link");
}

static void refusals(void **state) {
    (void)state;
    assert_int_equal(write_new("nodir/x"), LC_ERR_IO);
    assert_non_null(strstr(lc_err_text(), "nodir/x: cannot be written: No such file"));
    assert_int_equal(write_new("tmp"), LC_ERR_IO);
    assert_int_equal(write_new("new/"), LC_ERR_IO);
    assert_int_equal(write_new(""), LC_ERR_IO);
    assert_int_equal(entries(), 0);
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    assert_int_equal(write_new(name), LC_OK); /* the name of the partial file is not longer */
    unlink(name);
}

static void folders(void **state) {
    (void)state;
    assert_int_equal(lc_make_folders("a//b/c/"), LC_OK);
    assert_int_equal(lc_make_folders("a/b"), LC_OK);
    assert_int_equal(lc_make_folders("/"), LC_OK);
    assert_int_equal(lc_make_folders("."), LC_OK);
    assert_int_equal(symlink("b/linked", "a/link"), 0);
    assert_int_equal(lc_make_folders("a/link/c"), LC_OK);
    assert_true(type_of("a/link") == S_IFLNK && type_of("a/b/linked/c") == S_IFDIR);
    assert_int_equal(rmdir("a/b/linked/c"), 0);
    assert_int_equal(rmdir("a/b/linked"), 0);
    unlink("a/link");
    put("a/file", "");
    assert_int_equal(lc_make_folders("a/file/d"), LC_ERR_IO);
    unlink("a/file");
    assert_int_equal(rmdir("a/b/c"), 0);
    assert_int_equal(rmdir("a/b"), 0);
    assert_int_equal(rmdir("a"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_or_not), cmocka_unit_test(any_order),   cmocka_unit_test(modes),
        cmocka_unit_test(links),        cmocka_unit_test(fifos),       cmocka_unit_test(devices),
        cmocka_unit_test(sockets),      cmocka_unit_test(descriptors), cmocka_unit_test(refusals),
        cmocka_unit_test(folders),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
