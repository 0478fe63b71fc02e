/* A program that `leakgauge probe` asks: how long does a comparison with a secret take?
 *
 *   cc -O1 examples/probe/compare.c -o compare
 *   leakgauge probe --classes early,late,same -n 3000 -o log.csv -- ./compare variable
 *   leakgauge audit log.csv --claim 'attack-advantage(0.1)'
 *
 * A class says where the guess first differs from the secret. `variable` stops at the first difference, `constant`
 * looks at every byte. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LENGTH 64
/* Comparisons of one sample: one alone is shorter than the clock's step. */
#define TIMES 200

/* The compiler may not look through these. */
static volatile int sink;

static int variable(const volatile unsigned char *secret, const volatile unsigned char *guess) {
    for (int at = 0; at < LENGTH; at++)
        if (secret[at] != guess[at])
            return 0;
    return 1;
}

static int constant(const volatile unsigned char *secret, const volatile unsigned char *guess) {
    unsigned char difference = 0;
    for (int at = 0; at < LENGTH; at++)
        difference |= secret[at] ^ guess[at];
    return difference == 0;
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **arguments) {
    int is_variable = count > 1 && strcmp(arguments[1], "variable") == 0;
    if (!is_variable && (count < 2 || strcmp(arguments[1], "constant") != 0)) {
        fprintf(stderr, "say `variable` or `constant`\n");
        return 1;
    }
    unsigned char secret[LENGTH], guess[LENGTH + 1];
    char class[64];
    memset(secret, 7, LENGTH);
    while (fgets(class, sizeof class, stdin)) {
        /* All guesses are made alike, so that only the comparison differs. */
        memcpy(guess, secret, LENGTH);
        int at = strcmp(class, "early\n") == 0 ? 0 : strcmp(class, "late\n") == 0 ? 60 : LENGTH;
        guess[at] = 6;
        long long start = now();
        for (int time = 0; time < TIMES; time++)
            sink = is_variable ? variable(secret, guess) : constant(secret, guess);
        printf("%lld\n", now() - start);
        /* An answer that waits in a buffer looks like a program that hangs. */
        fflush(stdout);
    }
    return 0;
}
