//! The hyper-distribution: what is known of the secret after the observation, and how often.

use serde::Serialize;

use crate::channel::{Channel, Prior};
use leakgauge_base::error::Result;

/// Up to this difference of every entry two distributions count as one.
const SAME: f64 = 1e-12;

/// A distribution of the secret after an observation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inner {
    /// The probability of the observations after which it holds.
    pub probability: f64,
    /// These observations.
    pub observations: Vec<String>,
    /// The distribution, in the order of the secrets.
    pub posterior: Vec<f64>,
}

impl Channel {
    /// The hyper-distribution \[π ▹ C\], the likeliest distribution first. Observations after which the secret has the
    /// same distribution are one; those of probability 0 are left out.
    ///
    /// # Formula
    /// After o, with probability q_o = Σ_s π_s C\[s,o\], the secret has the distribution π_s C\[s,o\]/q_o.
    ///
    /// # Errors
    /// A prior over another number of secrets.
    ///
    /// # References
    /// A. McIver, L. Meinicke, C. Morgan, *Compositional closure for Bayes risk in probabilistic noninterference*,
    /// doi:10.1007/978-3-642-14162-1_19; Alvim et al., *The Science of Quantitative Information Flow*, chapter 4.
    pub fn hyper_distribution(&self, prior: &Prior) -> Result<Vec<Inner>> {
        prior.check_over(self.secrets().len())?;
        // Equal distributions have equal sums of these weights, so that only neighbors are compared.
        let weight = |s: usize| ((s + 1) as f64 * 0.618_033_988_749_894_9).fract();
        let mut columns: Vec<(f64, usize, Vec<f64>)> = Vec::new();
        for o in 0..self.observations().len() {
            let column = self.rows().zip(prior.weights()).map(|(row, w)| w * row[o]);
            let column: Vec<f64> = column.collect();
            let sum: f64 = column.iter().sum();
            if sum > 0.0 {
                let key = column.iter().enumerate().map(|(s, x)| weight(s) * x / sum);
                columns.push((key.sum(), o, column));
            }
        }
        columns.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        let mut found: Vec<(f64, Vec<usize>, Vec<f64>)> = Vec::new();
        for (key, o, column) in columns {
            let near = found
                .iter()
                .rposition(|known| key - known.0 > SAME * self.secrets().len() as f64);
            let from = near.map_or(0, |before| before + 1);
            let known = found[from..]
                .iter_mut()
                .find(|known| alike(&known.2, &column));
            match known {
                Some((_, observations, joint)) => {
                    observations.push(o);
                    joint.iter_mut().zip(&column).for_each(|(a, b)| *a += b);
                }
                None => found.push((key, vec![o], column)),
            }
        }
        let mut inners: Vec<(usize, Inner)> =
            found.into_iter().map(|found| self.inner(found)).collect();
        inners.sort_by(|(at, x), (other, y)| {
            let likelier = y.probability.total_cmp(&x.probability);
            likelier.then(at.cmp(other))
        });
        Ok(inners.into_iter().map(|(_, inner)| inner).collect())
    }

    fn inner(&self, (_, mut observations, joint): (f64, Vec<usize>, Vec<f64>)) -> (usize, Inner) {
        observations.sort_unstable();
        let probability: f64 = joint.iter().sum();
        let names = observations.iter().map(|&o| self.observations()[o].clone());
        let inner = Inner {
            probability,
            observations: names.collect(),
            posterior: joint.iter().map(|x| x / probability).collect(),
        };
        (observations[0], inner)
    }
}

fn alike(x: &[f64], y: &[f64]) -> bool {
    let (all_x, all_y): (f64, f64) = (x.iter().sum(), y.iter().sum());
    let mut pairs = x.iter().zip(y);
    pairs.all(|(x, y)| (x / all_x - y / all_y).abs() <= SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 4.2 of the book has the same form: three secrets, four observations, two of which tell the same.
    #[test]
    fn observations_that_tell_the_same_are_one_and_the_inners_average_to_the_prior() {
        let rows = [
            [0.5, 0.5, 0.0, 0.0],
            [0.0, 0.25, 0.5, 0.25],
            [0.5, 1.0 / 3.0, 1.0 / 9.0, 1.0 / 18.0],
        ];
        let channel = Channel::from_rows(&rows).unwrap();
        let prior = Prior::new(vec![0.25, 0.5, 0.25]).unwrap();
        let found = channel.hyper_distribution(&prior).unwrap();
        assert_eq!(found.len(), 3);
        let merged = found
            .iter()
            .find(|inner| inner.observations.len() == 2)
            .unwrap();
        assert_eq!(merged.observations, ["3", "4"]);
        // ½(½ + ¼) + ¼(1/9 + 1/18) = 5/12, of which secret 2 has 0.9.
        assert!((merged.probability - 5.0 / 12.0).abs() < 1e-15);
        assert!((merged.posterior[1] - 0.9).abs() < 1e-15 && merged.posterior[0] == 0.0);
        for s in 0..3 {
            let average: f64 = found
                .iter()
                .map(|inner| inner.probability * inner.posterior[s])
                .sum();
            assert!((average - prior.weights()[s]).abs() < 1e-15);
        }
        assert!(
            found
                .windows(2)
                .all(|two| two[0].probability >= two[1].probability)
        );
    }

    #[test]
    fn a_channel_without_leakage_has_one_inner_and_impossible_observations_none() {
        let channel = Channel::from_rows(&[[0.3, 0.7, 0.0], [0.3, 0.7, 0.0]]).unwrap();
        let found = channel.hyper_distribution(&Prior::uniform(2)).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].probability, &found[0].posterior[..]),
            (1.0, &[0.5, 0.5][..])
        );
        assert_eq!(found[0].observations, ["1", "2"]);
    }
}
