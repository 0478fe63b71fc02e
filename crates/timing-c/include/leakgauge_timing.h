/* Constant-time tests for C: does the class of an input change how long a call takes?
 *
 * Build the library and a test:
 *
 *   cargo build --release -p leakgauge-timing-c
 *   cc -O2 -I crates/timing-c/include test.c target/release/libleakgauge_timing_c.a -lm -lpthread -ldl
 *
 * docs/constant-time.md says what a test shows, and what it does not.
 */
#ifndef LEAKGAUGE_TIMING_H
#define LEAKGAUGE_TIMING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a test comes to. The numbers are those of exit codes of the program `leakgauge`. */
enum {
    /* The medians of all pairs of classes differ by no more than the threshold. */
    LEAKGAUGE_PASSES = 0,
    /* The medians of two classes differ by more than the threshold. */
    LEAKGAUGE_LEAKS = 1,
    /* Something is wrong with the options or with an environment variable; `message` says what. */
    LEAKGAUGE_WRONG = 2,
    /* The budget was spent before either was sure. */
    LEAKGAUGE_TOO_NOISY = 3
};

/* Thresholds by where the attacker measures, in nanoseconds. They are conventions: docs/constant-time.md. */
#define LEAKGAUGE_SHARED_HARDWARE 0.6
#define LEAKGAUGE_LAN 100.0
#define LEAKGAUGE_INTERNET 50000.0

/* What to test. Set all to zero first: `leakgauge_timing_options options = {0};` */
typedef struct leakgauge_timing_options {
    /* For messages, the file of times, and the order of the calls. UTF-8. */
    const char *name;
    /* Difference of medians that is allowed, in nanoseconds. */
    double threshold_ns;
    /* Names of the classes of inputs, UTF-8: 2 to 64, all different. */
    const char *const *classes;
    size_t class_count;
    /* Bytes of an input. */
    size_t input_size;
    /* Makes an input of a class, counted from 0, outside of the timed part. `input` has `input_size` bytes, all zero, aligned to
     * 16. Make the inputs of all classes in the same way. */
    void (*prepare)(void *context, size_t class_index, void *input);
    /* What is timed. */
    void (*run)(void *context, void *input);
    /* Passed on to both. */
    void *context;
    /* Seconds after which an open test ends as too noisy; 0 for 10. */
    double time_limit_s;
    /* Blocks after which it ends so; 0 for 500,000. */
    size_t max_blocks;
    /* Seed of the order of the calls; 0 for LEAKGAUGE_SEED or a fresh one. */
    uint64_t seed;
} leakgauge_timing_options;

/* What was found. Times are in nanoseconds: the median, over blocks, of the difference of two classes inside a block. Where there is
 * no limit it is infinite. */
typedef struct leakgauge_timing_result {
    /* As what the function returns. */
    int outcome;
    /* The pair of classes that decides. */
    size_t slower;
    size_t faster;
    double at_least_ns;
    double estimate_ns;
    double at_most_ns;
    /* Upper limit of the difference in either direction. */
    double size_at_most_ns;
    /* Blocks that were judged; 0 if there were too few for any limit. */
    size_t blocks;
    /* Each time is the mean of so many calls. */
    size_t calls_per_time;
    double clock_step_ns;
    uint64_t seed;
    /* A few lines for people, UTF-8, cut at the end where it is too long. */
    char message[4096];
} leakgauge_timing_result;

/* Tests, and returns what it comes to. `result` may be null. Tests of several threads run one after the other.
 *
 * The callbacks must return: not leave by longjmp or by a C++ exception. They must not call this function. */
int leakgauge_timing_test(const leakgauge_timing_options *options, leakgauge_timing_result *result);

#ifdef __cplusplus
}
#endif

#endif
