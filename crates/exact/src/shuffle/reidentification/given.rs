//! Re-identification by an adversary who knows the inputs of all users (Game 2).

use crate::extreme::Extreme;
use serde::Serialize;

use super::game::{Game, Success};
use crate::channel::Channel;
use crate::histogram::OUTSIDE;
use crate::shuffle::information::informed_law;
use leakgauge_base::error::{Error, Result};

/// The exact figures of the target's input among users with known inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Given {
    /// One entry for each input of the target and number of guesses.
    pub rows: Vec<GivenRow>,
}

/// The exact figures of one input of the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GivenRow {
    /// The target's input.
    pub input: String,
    /// The success and the advantages.
    #[serde(flatten)]
    pub success: Success,
}

/// The success of the optimal adversary who knows the target's input and how many other users have each input, for
/// several numbers of guesses.
///
/// # Formula
/// With one guess Σ_h max_y R_{x₁}(y)·P_o(h − e_y)/h_y, where P_o is the law of the other users' histogram: given the
/// histogram h, each of the h_y messages y is the target's with a probability proportional to R_{x₁}(y)·P_o(h −
/// e_y)/h_y. Further guesses are the next likely messages.
///
/// # Errors
/// The counts do not fit the randomizer, there are too many histograms, or a number of guesses is 0.
///
/// # References
/// Su, Cheng, Wang, *Bayesian Advantage of Re-Identification Attack in the Shuffle Model*, Game 2.
pub fn given_inputs(
    randomizer: &Channel,
    input: usize,
    known: &[u64],
    guesses: &[u64],
) -> Result<Vec<Success>> {
    let inputs = randomizer.secrets().len();
    if known.len() != inputs {
        return Err(Error::option(
            "known",
            format!(
                "has {} counts, the randomizer has {inputs} inputs",
                known.len()
            ),
        ));
    }
    let others = known.iter().copied().try_fold(0u64, u64::checked_add);
    let messages = others
        .and_then(|others| others.checked_add(1))
        .unwrap_or(u64::MAX);
    let games = guesses.iter().map(|k| Game::new(messages, *k));
    let games: Vec<Game> = games.collect::<Result<_>>()?;
    let law = informed_law(randomizer, known, OUTSIDE)?;
    let row = randomizer.row(input);
    let mut found = vec![0.0; games.len()];
    let mut each: Vec<(f64, u64)> = Vec::with_capacity(row.len());
    law.for_each_extended(|counts, before| {
        each.clear();
        let messages = counts.iter().zip(before).zip(row);
        each.extend(
            messages
                .filter(|((count, _), _)| **count > 0)
                .map(|((count, p), r)| (r * p / *count as f64, *count)),
        );
        each.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (sum, game) in found.iter_mut().zip(&games) {
            let mut left = game.guesses();
            for (p, count) in &each {
                let tried = left.min(*count);
                *sum += p * tried as f64;
                left -= tried;
            }
        }
    });
    let success = |(game, found): (&Game, f64)| {
        Success::from_additive(game, found.at_most(1.0) - game.blind_success())
    };
    Ok(games.iter().zip(found).map(success).collect())
}

#[cfg(test)]
mod tests {
    use super::super::RatioLaw;
    use super::*;

    /// By listing all messages: given the histogram, every order of them is equally likely.
    fn listed(rows: &[&[f64]]) -> f64 {
        let (users, width) = (rows.len(), rows[0].len());
        let mut joint = std::collections::BTreeMap::<Vec<usize>, Vec<f64>>::new();
        for number in 0..width.pow(users as u32) {
            let messages: Vec<usize> = (0..users)
                .map(|user| number / width.pow(user as u32) % width)
                .collect();
            let p: f64 = messages.iter().zip(rows).map(|(y, row)| row[*y]).product();
            let mut sorted = messages.clone();
            sorted.sort_unstable();
            joint.entry(sorted).or_insert_with(|| vec![0.0; width])[messages[0]] += p;
        }
        let best = |(seen, of): (&Vec<usize>, &Vec<f64>)| {
            let share = |y: usize| {
                let count = seen.iter().filter(|z| **z == y).count();
                if count == 0 {
                    0.0
                } else {
                    of[y] / count as f64
                }
            };
            (0..width).map(share).fold(0.0, f64::at_least)
        };
        joint.iter().map(best).sum()
    }

    #[test]
    fn the_game_with_given_inputs_is_that_of_all_messages() {
        let rows = [
            vec![0.5, 0.3, 0.2],
            vec![0.1, 0.6, 0.3],
            vec![0.25, 0.25, 0.5],
        ];
        let channel = Channel::from_rows(&rows).unwrap();
        for known in [[2u64, 1, 0], [0, 1, 3], [4, 0, 0], [0, 0, 0], [1, 1, 1]] {
            for input in 0..3 {
                let others =
                    (0..3).flat_map(|x| std::iter::repeat_n(rows[x].as_slice(), known[x] as usize));
                let users: Vec<&[f64]> = std::iter::once(rows[input].as_slice())
                    .chain(others)
                    .collect();
                let n = users.len() as u64;
                let found = given_inputs(&channel, input, &known, &[1, n]).unwrap();
                assert!((found[0].success - listed(&users)).abs() < 1e-14);
                assert!((found[1].success - 1.0).abs() < 1e-14);
            }
        }
        // All others alike: the game of two distributions, with any number of guesses.
        let law = RatioLaw::from_probabilities(&rows[0], &rows[2]).unwrap();
        let found = given_inputs(&channel, 0, &[0, 0, 9], &[1, 2, 5]).unwrap();
        for (found, k) in found.iter().zip([1, 2, 5]) {
            let expected = law.success(&Game::new(10, k).unwrap());
            assert!((found.success - expected.success).abs() < 1e-13, "{k}");
        }
        assert!(given_inputs(&channel, 0, &[1, 2], &[1]).is_err());
    }
}
