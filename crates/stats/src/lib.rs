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
//! | [`weighted_risk`] | limits for a weighted sum of Bernoulli parameters |
//! | [`poisson_binomial`] | limits for the mean of unequal Bernoulli rows |
//! | [`multiplicity`] | Bonferroni, Holm |
//! | [`goodness_of_fit`] | χ² and Kolmogorov tests of a fixed law |
//! | [`confidence_sequence`] | a limit that holds however often it is looked at |
//! | [`effective_rows`] | what autocorrelated rows are worth; approximate |
//! | [`hypergeometric`] | random draws without replacement |
//! | [`learning_curve`] | where an error seems to end with ever more rows |
//! | [`order`] | does the order of the rows carry information? |

pub mod binomial;
pub mod binomial_tail;
pub mod concentration;
pub mod confidence_sequence;
pub mod effective_rows;
pub mod goodness_of_fit;
pub mod hypergeometric;
pub mod learning_curve;
pub mod multiplicity;
pub mod order;
pub mod poisson_binomial;
pub mod renyi;
mod saddlepoint;
pub mod special;
pub mod weighted_risk;
pub mod wilson;
