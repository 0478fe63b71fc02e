//! An attack on shuffled values: a majority vote of the nearest people.

use leakgauge_base::parallel;
use rand::seq::SliceRandom;

use super::randomized_response;
use leakgauge_exact::permutation::apply;
use leakgauge_permute::Randomness;

/// For each person, the people whose values vote.
#[derive(Debug, Clone)]
pub struct Voters {
    lists: Vec<Vec<u32>>,
}

impl Voters {
    /// For each person, up to `most` people within reach who are most similar in the attacker's side information.
    /// `reach` lists those within reach, `unlike` is the dissimilarity of two people; ties are broken at random.
    pub fn new(
        people: usize,
        most: usize,
        reach: impl Fn(usize) -> Vec<u32> + Sync,
        unlike: impl Fn(usize, usize) -> f64 + Sync,
        randomness: &Randomness,
    ) -> Self {
        let lists = parallel::map(people, |person| {
            let mut near = reach(person);
            near.shuffle(&mut randomness.stream(person as u64));
            near.sort_by(|&a, &b| {
                unlike(person, a as usize).total_cmp(&unlike(person, b as usize))
            });
            near.truncate(most);
            near
        });
        Voters { lists }
    }

    /// For each person the most frequent value of the voters; `None` for a tie.
    pub fn majority(&self, values: &[u8], classes: u8) -> Vec<Option<u8>> {
        let mut votes = vec![0u32; usize::from(classes)];
        let vote = |list: &Vec<u32>| {
            votes.fill(0);
            for voter in list {
                votes[usize::from(values[*voter as usize])] += 1;
            }
            let most = votes.iter().copied().max().unwrap_or(0);
            let mut winners = (0..classes).filter(|x| votes[usize::from(*x)] == most);
            let winner = winners.next();
            winner.filter(|_| winners.next().is_none() && most > 0)
        };
        self.lists.iter().map(vote).collect()
    }
}

/// For each person, the number of `draws` randomizations in which the vote finds the value, after a shuffle in which
/// row i receives the value of row `received[i]`.
pub fn recovered(
    truth: &[u8],
    classes: u8,
    voters: &Voters,
    received: &[u32],
    epsilon: f64,
    draws: u32,
    randomness: &Randomness,
) -> Vec<u32> {
    let draw = |number: u32| {
        let told = randomized_response(
            truth,
            classes,
            epsilon,
            &mut randomness.stream(u64::from(number) + 1),
        );
        let seen = apply(received, &told);
        let guesses = voters.majority(&seen, classes);
        let right = guesses.iter().zip(truth);
        right
            .map(|(guess, x)| u32::from(*guess == Some(*x)))
            .collect::<Vec<u32>>()
    };
    let mut sums = vec![0; truth.len()];
    for right in parallel::map(draws as usize, |at| draw(at as u32)) {
        sums.iter_mut().zip(right).for_each(|(sum, x)| *sum += x);
    }
    sums
}

/// ρ: the share of people whose value is recovered in at least 90 % of the randomizations.
pub fn vulnerable(recovered: &[u32], draws: u32) -> f64 {
    let found = |times: &&u32| 10 * u64::from(**times) >= 9 * u64::from(draws);
    recovered.iter().filter(found).count() as f64 / recovered.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::uniform_shuffle;

    /// Households of 25 with one value: without a shuffle everyone is found, after one nobody is
    /// beyond guessing.
    #[test]
    fn households_are_found_unless_they_are_shuffled() {
        let truth: Vec<u8> = (0..1000).map(|i| (i / 25 % 2) as u8).collect();
        let household = |i: usize| (i as u32 / 25 * 25..i as u32 / 25 * 25 + 25).collect();
        let mut randomness = Randomness::seeded(1);
        let voters = Voters::new(1000, 25, household, |_, _| 0.0, &randomness);
        let identity: Vec<u32> = (0..1000).collect();
        let rho = |received: &[u32]| {
            vulnerable(
                &recovered(
                    &truth,
                    2,
                    &voters,
                    received,
                    2.5,
                    50,
                    &Randomness::seeded(2),
                ),
                50,
            )
        };
        assert!(rho(&identity) > 0.99);
        let shuffled = uniform_shuffle(1000, &mut randomness);
        // One permutation for all draws: a household may have drawn well, half of them their own value.
        assert!(rho(&shuffled) < 0.6, "{}", rho(&shuffled));
    }

    #[test]
    fn ties_elect_nobody_and_the_most_alike_vote() {
        let near = |_: usize| vec![0, 1, 2, 3];
        let unlike = |_: usize, other: usize| other as f64;
        let voters = Voters::new(4, 2, near, unlike, &Randomness::seeded(0));
        assert_eq!(voters.majority(&[1, 1, 0, 0], 2), [Some(1); 4]);
        assert_eq!(voters.majority(&[1, 0, 0, 0], 2), [None; 4]);
        let nobody = Voters::new(1, 25, |_| Vec::new(), unlike, &Randomness::seeded(0));
        assert_eq!(nobody.majority(&[0], 2), [None]);
    }
}
