//! The figures that can be recomputed.

use super::{
    Entry, composition, curves, numbers, planar, reidentification, response, shuffle_flow,
    shuffle_information, shuffle_tables, shuffling, sparsity,
};

macro_rules! entry {
    ($name:literal, $about:literal, [$($file:literal),+], $takes_data:literal, $build:path) => {
        Entry {
            name: $name,
            about: $about,
            files: &[$($file),+],
            takes_data: $takes_data,
            takes_source: false,
            build: $build,
        }
    };
    ($name:literal, $about:literal, [$($file:literal),+], from source, $build:path) => {
        Entry {
            takes_source: true,
            ..entry!($name, $about, [$($file),+], false, $build)
        }
    };
}

/// All figures that can be recomputed.
pub const ENTRIES: &[Entry] = &[
    entry!(
        "bayes-security-figure-1",
        "five secrets under a planar Laplace mechanism, and the worst pair",
        ["bayes-security-figure-1"],
        false,
        planar::figure_1
    ),
    entry!(
        "bayes-security-figure-4",
        "what differential privacy guarantees: Corollary 2 and the bound of Yeom et al.",
        ["bayes-security-figure-4"],
        false,
        curves::figure_4
    ),
    entry!(
        "bayes-security-figure-5",
        "tightness of the bounds from Bayes security and capacity for sparse priors",
        [
            "bayes-security-figure-5-random",
            "bayes-security-figure-5-geometric",
            "bayes-security-figure-5-geometric-near"
        ],
        false,
        sparsity::figure_5
    ),
    entry!(
        "bayes-security-figure-6a",
        "Bayes security of randomized response against epsilon",
        ["bayes-security-figure-6a"],
        false,
        curves::figure_6a
    ),
    entry!(
        "bayes-security-figure-6b",
        "Bayes security of the Laplace mechanism against epsilon",
        ["bayes-security-figure-6b"],
        false,
        curves::figure_6b
    ),
    entry!(
        "bayes-security-figure-6c",
        "Bayes security of the Gaussian mechanism against epsilon and delta",
        ["bayes-security-figure-6c"],
        false,
        curves::figure_6c
    ),
    entry!(
        "bayes-security-figure-7",
        "utility and Bayes security of randomized response on a population",
        ["bayes-security-figure-7"],
        true,
        response::figure_7
    ),
    entry!(
        "bayes-security-figure-8",
        "Bayes security of randomized response and its lower bounds",
        [
            "bayes-security-figure-8-left",
            "bayes-security-figure-8-right"
        ],
        false,
        curves::figure_8
    ),
    entry!(
        "bayes-security-proposition-1",
        "the worst pair of a channel and of two uses of it can differ",
        [
            "bayes-security-proposition-1-once",
            "bayes-security-proposition-1-twice",
            "bayes-security-proposition-1-strict-once",
            "bayes-security-proposition-1-strict-twice"
        ],
        false,
        composition::proposition_1
    ),
    entry!(
        "bayes-security-numbers",
        "every number printed in the text and its recomputed value",
        ["bayes-security-numbers"],
        false,
        numbers::numbers
    ),
    entry!(
        "reidentification-figure-2",
        "success against guesses for a linear density among uniform ones",
        ["reidentification-figure-2"],
        false,
        reidentification::figure_2
    ),
    entry!(
        "reidentification-figure-3",
        "success against n for Zipf passwords among uniform honeywords",
        ["reidentification-figure-3"],
        false,
        reidentification::figure_3
    ),
    entry!(
        "reidentification-figure-4",
        "success against guesses for Zipf passwords among uniform honeywords",
        ["reidentification-figure-4"],
        false,
        reidentification::figure_4
    ),
    entry!(
        "reidentification-figure-5",
        "clone and blanket of a Laplace mechanism, and printed numbers on shuffle DP",
        ["reidentification-figure-5"],
        false,
        reidentification::figure_5
    ),
    entry!(
        "shuffle-information-figure-2",
        "information about the target's message, decoys with the same distribution",
        [
            "shuffle-information-figure-2a",
            "shuffle-information-figure-2b"
        ],
        false,
        shuffle_information::figure_2
    ),
    entry!(
        "shuffle-information-figure-3",
        "information about position and message, uniform and optimal decoys",
        [
            "shuffle-information-figure-3a",
            "shuffle-information-figure-3b"
        ],
        false,
        shuffle_information::figure_3
    ),
    entry!(
        "shuffle-information-figure-4",
        "information about an input of 4-ary randomized response, and bounds",
        ["shuffle-information-figure-4"],
        false,
        shuffle_information::figure_4
    ),
    entry!(
        "shuffle-flow-tables",
        "channels of noise and shuffling for three people with two values (Tables I to V)",
        [
            "shuffle-flow-table-1a",
            "shuffle-flow-table-1b",
            "shuffle-flow-table-1c",
            "shuffle-flow-table-2",
            "shuffle-flow-table-3",
            "shuffle-flow-table-4",
            "shuffle-flow-table-5"
        ],
        false,
        shuffle_tables::tables
    ),
    entry!(
        "shuffle-flow-figure-2",
        "guessing one of two values after noise and shuffling",
        ["shuffle-flow-figure-2"],
        false,
        shuffle_flow::figure_2
    ),
    entry!(
        "shuffle-flow-figure-3",
        "guessing the last of 201 values",
        ["shuffle-flow-figure-3"],
        false,
        shuffle_flow::figure_3
    ),
    entry!(
        "shuffle-flow-figure-4",
        "guessing one of five values after noise and shuffling",
        ["shuffle-flow-figure-4"],
        false,
        shuffle_flow::figure_4
    ),
    entry!(
        "shuffle-flow-figure-5",
        "guessing one of k values after shuffling only",
        ["shuffle-flow-figure-5"],
        false,
        shuffle_flow::figure_5
    ),
    entry!(
        "shuffle-flow-figure-6",
        "shuffling only, and its asymptotic value",
        ["shuffle-flow-figure-6"],
        false,
        shuffle_flow::figure_6
    ),
    entry!(
        "shuffle-flow-figure-7",
        "noise and shuffling, and their asymptotic value",
        ["shuffle-flow-figure-7"],
        false,
        shuffle_flow::figure_7
    ),
    entry!(
        "dsigma-figure-1",
        "crescents shuffled within small and large groups, and an attack on each",
        [
            "dsigma-figure-1a-original",
            "dsigma-figure-1b-in-order",
            "dsigma-figure-1f-attack-in-order",
            "dsigma-figure-1c-small-groups",
            "dsigma-figure-1g-attack-small-groups",
            "dsigma-figure-1d-large-groups",
            "dsigma-figure-1h-attack-large-groups",
            "dsigma-figure-1e-uniform",
            "dsigma-figure-1i-attack-uniform"
        ],
        false,
        shuffling::figure_1
    ),
    entry!(
        "dsigma-figure-4-syn",
        "values recovered and local distributions learned from shuffled crescents",
        [
            "dsigma-figure-4-syn-attack",
            "dsigma-figure-4-syn-learnability"
        ],
        false,
        shuffling::figure_4_syn
    ),
    entry!(
        "dsigma-figure-4-twitch",
        "values recovered and local distributions learned from a shuffled network; data: the Twitch directory",
        [
            "dsigma-figure-4-twitch-attack",
            "dsigma-figure-4-twitch-learnability"
        ],
        from source,
        shuffling::figure_4_twitch
    ),
    entry!(
        "dsigma-figure-5",
        "accuracy of 8-, 4- and 2-way classification learned from shuffled crescents",
        ["dsigma-figure-5"],
        false,
        shuffling::figure_5
    ),
    entry!(
        "dsigma-figure-6",
        "the worked example of Algorithm 1: groups in a reference order, and what is published",
        ["dsigma-figure-6-groups", "dsigma-figure-6-release"],
        false,
        shuffling::figure_6
    ),
    entry!(
        "dsigma-figure-7",
        "the share of a set that a Mallows shuffle keeps within the set",
        ["dsigma-figure-7a", "dsigma-figure-7b", "dsigma-figure-7c"],
        false,
        shuffling::figure_7
    ),
    entry!(
        "dsigma-figure-8",
        "incomes recovered and shares learned from a shuffled census; data: the Adult file",
        [
            "dsigma-figure-8a",
            "dsigma-figure-8a-larger",
            "dsigma-figure-8b",
            "dsigma-figure-8c",
            "dsigma-figure-8-trade"
        ],
        from source,
        shuffling::figure_8
    ),
    entry!(
        "dsigma-figure-9",
        "widths of reference orders if the optimal order is known",
        [
            "dsigma-figure-9-w4",
            "dsigma-figure-9-w10",
            "dsigma-figure-9-w20",
            "dsigma-figure-9-w50"
        ],
        false,
        shuffling::figure_9
    ),
    entry!(
        "dsigma-figure-10",
        "widths of reference orders of random points",
        [
            "dsigma-figure-10-r0",
            "dsigma-figure-10-r0.01",
            "dsigma-figure-10-r0.05",
            "dsigma-figure-10-r0.2"
        ],
        false,
        shuffling::figure_10
    ),
];
