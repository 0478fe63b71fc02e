//! Refinement of channels: whether one is another one followed by a channel of its own.

use crate::extreme::Extreme;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use serde::Serialize;

use super::merged::{merged, same_columns};
use super::witness::Witness;
use crate::channel::Channel;
use crate::channel::measures::total_variation;
use leakgauge_base::error::{Error, Result};

/// Up to this deficiency a channel counts as a refinement: what rounding and the solver leave.
pub const REFINEMENT_TOLERANCE: f64 = 1e-8;

/// The largest number of variables of the linear program.
const MAX_VARIABLES: usize = 40_000;

/// How two channels A and B with the same secrets relate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refinement {
    /// The file or mechanism of B.
    pub other: String,
    /// Whether A refines B, B ⊑ A: A leaks at most as much as B under every prior and every gain.
    pub refines: bool,
    /// Whether B refines A.
    pub refined_by: bool,
    /// Whether both hold, A ≡ B.
    pub equivalent: bool,
    /// The deficiency of B with respect to A, 0 where A refines B: the least total variation, in the worst row, between
    /// A and B followed by some channel.
    pub deficiency: f64,
    /// That of A with respect to B.
    pub deficiency_back: f64,
    /// Where A does not refine B, a prior and a gain under which A leaks more than B; null if double precision finds
    /// none.
    pub witness: Option<Witness>,
}

impl Channel {
    /// How this channel relates to another one with the same secrets, by their names.
    ///
    /// # Formula
    /// A refines B if A = B·R for a stochastic matrix R; equivalently, no prior and gain exist under which A has the
    /// larger g-vulnerability. The linear program min over R of max_s tv(A_s, (BR)_s) is Le Cam's deficiency; the value
    /// is that of the solution found, recomputed, and counts as 0 up to [`REFINEMENT_TOLERANCE`].
    ///
    /// # Errors
    /// The secrets differ, the matrices are too large for the linear program, or it could not be solved.
    ///
    /// # References
    /// M. S. Alvim et al., *The Science of Quantitative Information Flow*, chapter 9, doi:10.1007/978-3-319-96131-6; L.
    /// Le Cam, *Sufficiency and approximate sufficiency*, doi:10.1214/aoms/1177700372.
    pub fn refinement(&self, other: &Channel, name: &str) -> Result<Refinement> {
        let deficiency = other.deficiency(self)?;
        let back = self.deficiency(other)?;
        let (refines, refined_by) = (
            deficiency <= REFINEMENT_TOLERANCE,
            back <= REFINEMENT_TOLERANCE,
        );
        let other = other.in_order_of(&self.secrets, "refinement", "secrets compared")?;
        let witness = match refines {
            true => None,
            false => Witness::of(self, &other),
        };
        Ok(Refinement {
            other: name.to_owned(),
            refines,
            refined_by,
            equivalent: refines && refined_by,
            deficiency,
            deficiency_back: back,
            witness,
        })
    }

    /// Le Cam's deficiency of this channel with respect to a target: min over R of max_s tv(target_s, (C·R)_s).
    ///
    /// # Errors
    /// As [`Channel::refinement`].
    pub fn deficiency(&self, target: &Channel) -> Result<f64> {
        if self.secrets.len() != target.secrets.len() {
            let problem = format!(
                "the channels have {} and {} secrets: they are not comparable, so that neither refines the other",
                target.secrets.len(),
                self.secrets.len()
            );
            return Err(Error::parameter("refinement", problem)
                .with_hint("compare channels that take the same secrets"));
        }
        let target = &*target.in_order_of(&self.secrets, "refinement", "secrets compared")?;
        let (source, target) = (merged(self), merged(target));
        if let Some(equal) = same_columns(&source, &target) {
            return Ok(equal);
        }
        let (m, width, n) = (source.len(), target.len(), self.secrets.len());
        let size = m.saturating_mul(width).saturating_add(2 * n * width);
        if size > MAX_VARIABLES {
            let problem = format!(
                "{n} secrets with {m} and {width} observations need a linear program of {size} variables; the limit is \
                 {MAX_VARIABLES}"
            );
            return Err(Error::parameter("refinement", problem));
        }
        let solution = solve(&source, &target, n)?;
        Ok(reached(&source, &target, &solution, n))
    }
}

/// R row by row, as the linear program finds it.
fn solve(source: &[Vec<f64>], target: &[Vec<f64>], n: usize) -> Result<Vec<Vec<f64>>> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let worst = problem.add_var(1.0, (0.0, 1.0));
    let entries: Vec<Vec<Variable>> = source
        .iter()
        .map(|_| {
            target
                .iter()
                .map(|_| problem.add_var(0.0, (0.0, 1.0)))
                .collect()
        })
        .collect();
    for row in &entries {
        let sum: Vec<(Variable, f64)> = row.iter().map(|&entry| (entry, 1.0)).collect();
        problem.add_constraint(sum, ComparisonOp::Eq, 1.0);
    }
    for s in 0..n {
        let mut missing = vec![(worst, -1.0)];
        for (o, wanted) in target.iter().enumerate() {
            // (CR)[s, o] + missing − above = target[s, o]; rows sum to 1, so both sums are the total variation.
            let (below, above) = (
                problem.add_var(0.0, (0.0, 1.0)),
                problem.add_var(0.0, (0.0, 1.0)),
            );
            let mut terms: Vec<(Variable, f64)> = source
                .iter()
                .zip(&entries)
                .filter(|(column, _)| column[s] > 0.0)
                .map(|(column, row)| (row[o], column[s]))
                .collect();
            terms.extend([(below, 1.0), (above, -1.0)]);
            problem.add_constraint(terms, ComparisonOp::Eq, wanted[s]);
            missing.push((below, 1.0));
        }
        problem.add_constraint(missing, ComparisonOp::Le, 0.0);
    }
    let solution = problem.solve().map_err(|_| {
        Error::parameter(
            "refinement",
            "the linear program could not be solved in double precision",
        )
    })?;
    let value = |row: Vec<Variable>| row.into_iter().map(|x| solution[x]).collect();
    Ok(entries.into_iter().map(value).collect())
}

/// max_s tv(target_s, (C·R)_s), R made stochastic.
fn reached(source: &[Vec<f64>], target: &[Vec<f64>], found: &[Vec<f64>], n: usize) -> f64 {
    let stochastic: Vec<Vec<f64>> = found
        .iter()
        .map(|row| {
            let row: Vec<f64> = row.iter().map(|x| x.at_least(0.0)).collect();
            let sum: f64 = row.iter().sum();
            row.into_iter().map(|x| x / sum).collect()
        })
        .collect();
    let distance = |s: usize| {
        let reached: Vec<f64> = (0..target.len())
            .map(|o| {
                let pairs = source.iter().zip(&stochastic);
                pairs.map(|(column, row)| column[s] * row[o]).sum()
            })
            .collect();
        let wanted: Vec<f64> = target.iter().map(|column| column[s]).collect();
        total_variation(&reached, &wanted)
    };
    (0..n).map(distance).fold(0.0, f64::at_least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shuffle::vulnerability::Datasets;
    use leakgauge_testing::rng;
    use rand::RngExt;

    fn relation(a: &Channel, b: &Channel) -> (bool, bool) {
        let found = a.refinement(b, "other").unwrap();
        assert_eq!(found.equivalent, found.refines && found.refined_by);
        (found.refines, found.refined_by)
    }

    /// Propositions 9, 11, 12, 25, 26 and 28 of the information-flow paper (arXiv:2305.13075), for several sizes.
    #[test]
    fn noise_and_shuffling_relate_as_the_information_flow_paper_says() {
        for (values, people, keep) in [(2, 3, 0.75), (3, 2, 0.5), (2, 4, 0.6), (2, 2, 0.5)] {
            let all = Datasets::new(values, people).unwrap();
            let (n, s) = (all.noise(keep).unwrap(), all.shuffle().unwrap());
            let (sr, nr) = (
                all.reduced_shuffle().unwrap(),
                all.reduced_noise(keep).unwrap(),
            );
            let (ns, sn) = (n.cascade(&s).unwrap(), s.cascade(&n).unwrap());
            let (nsr, srnr) = (n.cascade(&sr).unwrap(), sr.cascade(&nr).unwrap());
            assert_eq!(relation(&s, &sr), (true, true), "proposition 9");
            assert_eq!(relation(&ns, &sn), (true, true), "proposition 11");
            assert_eq!(relation(&ns, &nsr), (true, true), "proposition 12");
            assert_eq!(relation(&nsr, &srnr), (true, true), "proposition 26");
            assert_eq!(relation(&ns, &srnr), (true, true), "proposition 28");
            assert_eq!(relation(&ns, &s), (true, false), "NS refines S");
            if keep > 0.5 {
                assert_eq!(relation(&ns, &n), (true, false), "NS refines N");
            }
        }
    }

    /// A channel followed by another one refines it; of two observations without an order neither does, and the
    /// deficiency is that of a calculation by hand.
    #[test]
    fn what_follows_refines_and_nothing_else_does() {
        let mut source = rng(5);
        let mut random = |rows: usize, columns: usize| {
            let row = |_| {
                let row: Vec<f64> = (0..columns).map(|_| source.random::<f64>()).collect();
                let sum: f64 = row.iter().sum();
                row.into_iter().map(|x| x / sum).collect::<Vec<f64>>()
            };
            let rows: Vec<Vec<f64>> = (0..rows).map(row).collect();
            Channel::from_rows(&rows).unwrap()
        };
        for _ in 0..20 {
            let (a, then) = (random(4, 5), random(5, 3));
            assert_eq!(relation(&a.cascade(&then).unwrap(), &a), (true, false));
        }
        // From a binary symmetric channel with error ¼ no map makes one without error: ¼ in the worst row.
        let quarter = Channel::from_rows(&[[0.75, 0.25], [0.25, 0.75]]).unwrap();
        let clear = Channel::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert!((quarter.deficiency(&clear).unwrap() - 0.25).abs() < 1e-12);
        assert!(clear.deficiency(&quarter).unwrap() < 1e-12);
        // Z-channels in opposite directions: neither refines the other.
        let z = Channel::from_rows(&[[1.0, 0.0], [0.5, 0.5]]).unwrap();
        let other = Channel::from_rows(&[[0.5, 0.5], [0.0, 1.0]]).unwrap();
        assert_eq!(relation(&z, &other), (false, false));
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        let two = Channel::from_rows(&[[1.0], [1.0]]).unwrap();
        let three = Channel::from_rows(&[[1.0], [1.0], [1.0]]).unwrap();
        assert!(two.refinement(&three, "three").is_err());
    }
}
