/* Two comparisons of 256 bytes: one that ends at the first difference, and one that looks at all bytes. */
#include "leakgauge_timing.h"

#include <stdio.h>
#include <string.h>

#define LENGTH 256

static unsigned char secret[LENGTH];
static volatile int sink;

static int naive(const unsigned char *a, const unsigned char *b) {
    for (size_t i = 0; i < LENGTH; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static int constant(const unsigned char *a, const unsigned char *b) {
    unsigned char any = 0;
    for (size_t i = 0; i < LENGTH; i++) any |= a[i] ^ b[i];
    return any == 0;
}

/* An input: a guess that is wrong in its first byte (class 0) or in its last. */
static void prepare(void *context, size_t class_index, void *input) {
    unsigned char *guess = input;
    (void)context;
    memcpy(guess, secret, LENGTH);
    guess[class_index == 0 ? 0 : LENGTH - 1] ^= 1;
}

static void run(void *context, void *input) {
    int (*compare)(const unsigned char *, const unsigned char *) = *(int (**)(const unsigned char *, const unsigned char *))context;
    sink = compare(secret, input);
}

int main(void) {
    static const char *const classes[] = {"first byte", "last byte"};
    static leakgauge_timing_result result;
    int (*compare)(const unsigned char *, const unsigned char *) = naive;
    leakgauge_timing_options options = {0};
    options.name = "comparison in C";
    options.threshold_ns = LEAKGAUGE_SHARED_HARDWARE;
    options.classes = classes;
    options.class_count = 2;
    options.input_size = LENGTH;
    options.prepare = prepare;
    options.run = run;
    options.context = &compare;

    int outcome = leakgauge_timing_test(&options, &result);
    printf("naive %d %zu %d\n%s", outcome, result.slower, result.at_least_ns > options.threshold_ns, result.message);
    compare = constant;
    outcome = leakgauge_timing_test(&options, &result);
    printf("constant %d\n%s", outcome, result.message);

    options.class_count = 1;
    outcome = leakgauge_timing_test(&options, &result);
    printf("wrong %d %s\n", outcome, result.message);
    printf("null %d\n", leakgauge_timing_test(NULL, NULL));
    return 0;
}
