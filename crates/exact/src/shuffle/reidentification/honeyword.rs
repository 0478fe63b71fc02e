//! The success-number graph of a honeyword system, as its literature draws it: successful logins against
//! logins with honeywords, over many accounts.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::quadrature::Sum;
use leakgauge_base::error::{Error, Result};

/// The most sweetwords, over all accounts, that are drawn.
pub const MAX_SWEETWORDS: u64 = 20_000_000;

/// What an attacker gets from a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Sweetwords an account, the real password included.
    pub sweetwords: u64,
    /// Guesses an account allows.
    pub guesses: u64,
    /// Accounts.
    pub accounts: u64,
    /// Seed of what users and the system draw.
    pub seed: u64,
}

/// One login attempt after another, in falling order of the posterior probability that it succeeds:
/// (honeyword logins, successful logins), one point for each number of honeyword logins.
///
/// # Formula
/// Passwords drawn from P, honeywords from Q, weights over the same labels. The posterior of a sweetword
/// is its P/Q over the sum of the account's (eq. 5); an account is left when it is cracked or its guesses
/// are used up. Equal posteriors come in random order.
///
/// # Errors
/// Weights that are no distribution; no sweetword, guess or account, or more than [`MAX_SWEETWORDS`].
pub fn success_number(p: &[f64], q: &[f64], system: &System) -> Result<Vec<(u64, u64)>> {
    let drawn = system.sweetwords.saturating_mul(system.accounts);
    if drawn == 0 || drawn > MAX_SWEETWORDS || system.guesses == 0 {
        return Err(Error::parameter(
            format!(
                "{} accounts of {} sweetwords",
                system.accounts, system.sweetwords
            ),
            format!("are not between 1 and {MAX_SWEETWORDS} sweetwords with a guess each"),
        ));
    }
    let (users, decoys) = (Sampler::new("P", p)?, Sampler::new("Q", q)?);
    if p.len() != q.len() {
        return Err(Error::parameter("P and Q", "have different lengths"));
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

/// A login with a sweetword.
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

/// Draws from weights by their running sums.
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
            return Err(Error::parameter(name, "is no distribution"));
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
