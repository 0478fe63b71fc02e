//! What a bound on a figure of all secrets leaves to an attacker.

use std::f64::consts::LN_2;

use super::{Covered, Explanation, Laws, dominating, numbers_of_secrets};
use crate::claim::Requirement;
use crate::extreme::Extreme;
use leakgauge_base::quantity::OverallFigure;
use leakgauge_stats::renyi::success_divergence;

pub(super) fn explanation(
    figure: OverallFigure,
    at_most: f64,
    labels: Option<&[String]>,
) -> Explanation {
    match figure {
        OverallFigure::MutualInformation => of_information(at_most, labels),
        OverallFigure::MaximalLeakage => of_maximal_leakage(at_most, labels),
    }
}

/// What b bits of maximal leakage leave: of two secrets what their total variation leaves, which is at most 2^b − 1, and of n
/// equally likely ones a right guess with probability 2^b/n.
fn of_maximal_leakage(at_most: f64, labels: Option<&[String]>) -> Explanation {
    let figure = OverallFigure::MaximalLeakage;
    let requirement = Requirement::Advantage {
        at_most: figure.largest_total_variation(at_most),
    };
    let laws = Laws::Promise {
        requirement,
        pair: dominating::of_requirement(requirement, None),
    };
    let mut found = laws.explanation(&numbers_of_secrets(labels));
    for naming in &mut found.namings {
        let by_capacity = (libm::exp2(at_most) * naming.success.without).at_most(1.0);
        let by_pairs = naming.success.most.unwrap_or(1.0);
        naming.success.most = Ok(by_capacity.at_most(by_pairs));
    }
    found
}

/// What I bits leave: by Fano's inequality, the success V of naming one of n equally likely secrets has
/// d(V ‖ 1/n) ≤ I ln 2. Two secrets alone are told apart with that of n = 2, which is (1 + advantage)/2.
fn of_information(at_most: f64, labels: Option<&[String]>) -> Explanation {
    let mut found = Explanation::of_nothing(Covered::Average, labels);
    let largest = |n: f64| {
        let (mut low, mut high) = (1.0 / n, 1.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            match success_divergence(middle, 1.0 / n, 1.0) <= at_most * LN_2 {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    };
    for naming in &mut found.namings {
        naming.success.most = Ok(largest(naming.secrets as f64));
    }
    if labels.is_some_and(|labels| labels.len() == 2) {
        let right = largest(2.0);
        found.guesses[0].success.most = Ok(right);
        found.advantage.most = Ok(2.0 * right - 1.0);
        found.bayes_security = Ok(2.0 * (1.0 - right));
    }
    found
}
