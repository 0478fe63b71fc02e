//! The success-number graph of a honeyword system: successful logins against logins with honeywords, over many
//! accounts.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::quadrature::Sum;
use leakgauge_base::error::{Error, Result};

/// The largest number of sweetwords of all accounts together.
pub const MAX_SWEETWORDS: u64 = 20_000_000;

/// The parameters of a breached honeyword system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// The number of sweetwords per account, including the real password.
    pub sweetwords: u64,
    /// The number of guesses per account.
    pub guesses: u64,
    /// The number of accounts.
    pub accounts: u64,
    /// The seed.
    pub seed: u64,
}

/// Simulates login attempts in decreasing order of their posterior probability of success. Returns points
/// (honeyword logins, successful logins), one for each number of honeyword logins.
///
/// # Formula
/// Passwords drawn from P, honeywords from Q, weights over the same labels. The posterior of a sweetword
/// is its P/Q over the sum of the account's (eq. 5); an account is finished when it is cracked or its
/// guesses are used up. Ties are in random order.
///
/// # Errors
/// The weights are not a distribution; a parameter is 0; there are more than [`MAX_SWEETWORDS`] sweetwords.
pub fn success_number(p: &[f64], q: &[f64], system: &System) -> Result<Vec<(u64, u64)>> {
    let drawn = system.sweetwords.saturating_mul(system.accounts);
    if drawn == 0 || drawn > MAX_SWEETWORDS || system.guesses == 0 {
        return Err(Error::parameter(
            format!(
                "{} accounts of {} sweetwords",
                system.accounts, system.sweetwords
            ),
            format!(
                "need 1 to {MAX_SWEETWORDS} sweetwords in total and at least one guess per account"
            ),
        ));
    }
    let (users, decoys) = (Sampler::new("P", p)?, Sampler::new("Q", q)?);
    if p.len() != q.len() {
        return Err(Error::parameter("P and Q", "differ in length"));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(system.seed);
    let mut attempts: Vec<Attempt> = Vec::new();
    for account in 0..system.accounts {
        let mut words: Vec<Attempt> = (0..system.sweetwords)
            .map(|word| {
                let from = if word == 0 { &users } else { &decoys };
                let label = from.draw(&mut rng);
                Attempt {
                    posterior: (p[label] / users.total) / (q[label] / decoys.total),
                    order: rng.random(),
                    account,
                    real: word == 0,
                }
            })
            .collect();
        let sum: f64 = words.iter().map(|word| word.posterior).sum();
        for word in &mut words {
            word.posterior = if sum.is_finite() {
                word.posterior / sum
            } else {
                f64::from(u8::from(word.posterior == f64::INFINITY))
            };
        }
        words.sort_by(Attempt::order);
        attempts.extend(words.into_iter().take(system.guesses as usize));
    }
    attempts.sort_by(Attempt::order);
    Ok(walk(&attempts, system.accounts as usize))
}

/// A login attempt with a sweetword.
struct Attempt {
    posterior: f64,
    order: u64,
    account: u64,
    real: bool,
}

impl Attempt {
    fn order(&self, other: &Attempt) -> std::cmp::Ordering {
        let likelier = other.posterior.total_cmp(&self.posterior);
        likelier.then(self.order.cmp(&other.order))
    }
}

fn walk(attempts: &[Attempt], accounts: usize) -> Vec<(u64, u64)> {
    let mut cracked = vec![false; accounts];
    let (mut found, mut points) = (0, vec![(0, 0)]);
    for attempt in attempts {
        let account = &mut cracked[attempt.account as usize];
        if *account {
            continue;
        }
        if attempt.real {
            *account = true;
            found += 1;
            if let Some(last) = points.last_mut() {
                last.1 = found;
            }
        } else {
            points.push((points.len() as u64, found));
        }
    }
    points
}

/// Draws from weights by their cumulative sums.
struct Sampler {
    sums: Vec<f64>,
    total: f64,
}

impl Sampler {
    fn new(name: &str, weights: &[f64]) -> Result<Self> {
        let mut sum = Sum::default();
        let sums: Vec<f64> = weights
            .iter()
            .map(|&weight| {
                sum.add(weight);
                sum.value()
            })
            .collect();
        let total = sum.value();
        if weights
            .iter()
            .any(|&weight| weight.is_nan() || weight < 0.0)
            || !(total > 0.0 && total.is_finite())
        {
            return Err(Error::parameter(name, "is not a distribution"));
        }
        Ok(Sampler { sums, total })
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> usize {
        let at = rng.random::<f64>() * self.total;
        // Never a label of weight 0: the first sum beyond the number drawn.
        self.sums
            .partition_point(|&sum| sum <= at)
            .min(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Game, RatioLaw};
    use super::*;

    /// All accounts tried once: the share of them that is found is β_n.
    #[test]
    fn the_graph_ends_at_the_success_of_the_game() {
        let p = [0.5, 0.3, 0.1, 0.1];
        let q = [0.25; 4];
        let system = System {
            sweetwords: 5,
            guesses: 1,
            accounts: 20_000,
            seed: 1,
        };
        let points = success_number(&p, &q, &system).unwrap();
        let &(failed, found) = points.last().unwrap();
        assert_eq!(failed + found, system.accounts);
        let law = RatioLaw::from_probabilities(&p, &q).unwrap();
        let expected = law.success(&Game::new(5, 1).unwrap()).success;
        assert!((found as f64 / 20_000.0 - expected).abs() < 0.012);
        assert_eq!(points, success_number(&p, &q, &system).unwrap());
    }

    #[test]
    fn all_guesses_find_every_password() {
        let system = System {
            sweetwords: 4,
            guesses: 4,
            accounts: 50,
            seed: 2,
        };
        let points = success_number(&[1.0, 0.0], &[0.5, 0.5], &system).unwrap();
        assert_eq!(points.last().unwrap().1, 50);
        assert!(success_number(&[0.0], &[1.0], &system).is_err());
        let none = System {
            accounts: 0,
            ..system
        };
        assert!(success_number(&[1.0], &[1.0], &none).is_err());
    }
}
