//! Statistics with stated conditions: confidence limits, concentration radii, tests.
//!
//! Everything here is a pure function of counts, numbers and a level. Limits that are called
//! *valid* hold at every sample size and are rounded outward; whatever is an approximation says so.
//!
//! | module | content |
//! |---|---|
//! | [`special`] | normal, χ² and Kolmogorov tail probabilities |
//! | [`binomial`] | one-sided Clopper–Pearson limits |
//! | [`binomial_tail`] | binomial tail probabilities |
//! | [`wilson`] | approximate limits for choosing |
//! | [`concentration`] | Massart's and McDiarmid's radii |
//! | [`error_rates`], [`renyi`] | what the errors of a test between two secrets say about privacy |
//! | [`weighted_risk`] | limits for a weighted sum of Bernoulli parameters |
//! | [`poisson_binomial`] | limits for the mean of unequal Bernoulli rows |
//! | [`multiplicity`] | Bonferroni, Holm |
//! | [`goodness_of_fit`] | χ² and Kolmogorov tests of a fixed law |
//! | [`effective_rows`] | what autocorrelated rows are worth; approximate |
//! | [`long_run`] | how much means vary where neighbors resemble each other |
//! | [`hypergeometric`] | random draws without replacement |
//! | [`random`] | where random numbers come from: a seed, a use, the data |
//! | [`learning_curve`] | where an error seems to end with ever more rows |
//! | [`two_binomials`] | upper limits for the difference of two rates, whatever their level |
//! | [`event_upper`], [`dp_upper`], [`sparse_upper`] | upper limits of total variation, Bayes vulnerability and the hockey-stick divergence of discrete observations |
//! | [`all_rows`], [`guesses`], [`guess_tests`], [`tails`] | limits from rows that are judged before they are learned from |
//! | [`secret_blind`], [`groups`] | tests on events, and on many groups of rows, that are chosen without looking at secrets |
//! | [`band`], [`two_sample_kolmogorov`] | one numeric column, a pair fixed beforehand: no split, no seed |
//! | [`betting`] | limits where rows come in dependent units |
//! | [`one_run`] | guesses about the canaries of a single training run |
//! | [`alpha`] | a ledger of the error probability: who spends which part of it |
//! | [`joint`], [`level`] | one level for many limits; the smallest level that would refute |
//! | [`bisection`] | where a monotone condition changes |
//! | [`no_leak`] | is there any leak at all? |
//! | [`column_tests`] | which of many columns depend on the secret? |
//! | [`clock`] | the step in which times were recorded, and what it hides |
//! | [`copies`], [`grid`] | repeated rows; the grid that numbers were rounded to |
//! | [`order`] | does the order of the rows carry information? |
//! | [`paired`] | differences of measurements that were taken in pairs |
//! | [`unpaired`] | differences between two independent samples |

pub mod all_rows;
pub mod alpha;
pub mod area;
pub mod band;
pub mod betting;
pub mod binomial;
pub mod binomial_tail;
pub mod bisection;
pub mod clock;
pub mod column_tests;
pub mod concentration;
pub mod copies;
pub mod dp_upper;
pub mod effective_rows;
pub mod error_rates;
pub mod event_upper;
pub mod goodness_of_fit;
pub mod grid;
pub mod groups;
pub mod guess_tests;
pub mod guesses;
pub mod hypergeometric;
pub mod information;
pub mod joint;
pub mod learning_curve;
pub mod level;
pub mod long_run;
pub mod multiplicity;
pub mod no_leak;
pub mod one_run;
pub mod order;
pub mod paired;
pub mod poisson_binomial;
pub mod random;
pub mod reconstruction;
pub mod renyi;
pub mod saddlepoint;
pub mod secret_blind;
pub mod sparse_upper;
pub mod special;
pub mod tails;
pub mod two_binomials;
pub mod two_sample_kolmogorov;
pub mod unpaired;
pub mod variational;
pub mod weighted_risk;
pub mod wilson;
