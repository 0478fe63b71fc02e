//! Could so many samples have found a leak of a given size?

use leakgauge_stats::product_bets::{Allowed, Counts, best_bet};
use leakgauge_stats::special::normal_quantile;

/// What learning costs: nats that bets on the best cells lose until they are known.
const LEARNING: f64 = 3.0;

/// About how many samples of both inputs together find a pair whose ε is `epsilon`, with the probability `power`, by one
/// rule alone. `alpha` is the error probability times the attacker's share of the capital. `None` if the claim allows it, or no rule was learned.
///
/// # Formula
/// The pair is one whose outputs fall into the cells A and B of the rule as often as those that were drawn, but with
/// odds e^ε. The best bet then grows by g nats for a row of each input, with variance v; n rows of each reach
/// c = ln(1/α) + 3 with the given probability where n g − z √(n v) = c, n = ((z√v + √(z²v + 4gc))/2g)².
///
/// # Conditions
/// An approximation, and of leaks that show where this rule looks, as often as what was drawn did. It decides no
/// verdict.
pub fn samples_to_find(
    cells: &Counts,
    allowed: Allowed,
    epsilon: f64,
    alpha: f64,
    power: f64,
) -> Option<u64> {
    let leak = with_odds(cells, epsilon)?;
    let bet = best_bet(&leak, allowed);
    let growth = bet.ln_growth(&leak);
    if growth <= 1e-12 {
        return None;
    }
    let variance = variance(&leak.first, &bet.first) + variance(&leak.second, &bet.second);
    let cost = LEARNING - alpha.ln();
    let z = normal_quantile(power).max(0.0) * variance.sqrt();
    let root = (z + (z * z + 4.0 * growth * cost).sqrt()) / (2.0 * growth);
    let rows = root * root;
    (rows < 1e15).then(|| 2 * rows.ceil() as u64)
}

/// Laws whose odds in A and in B are e^ε, and whose cells are as likely as those of these rows, both inputs together.
fn with_odds(cells: &Counts, epsilon: f64) -> Option<Counts> {
    let rates = |rows: &[f64; 3]| {
        let total: f64 = rows.iter().sum();
        rows.map(|count| count / total.max(1.0))
    };
    let [first, second] = [rates(&cells.first), rates(&cells.second)];
    let likely = 1.0 / (1.0 + (-epsilon).exp());
    // An event of a rate above this cannot have such odds.
    let most = likely.recip() * 0.999;
    let a = (first[0] + second[0]).min(most);
    let b = (first[2] + second[2]).min(most);
    if a + b <= 0.0 {
        return None;
    }
    // Both laws must keep room for the other cells.
    let scale = |share_a: f64, share_b: f64| (a * share_a + b * share_b).max(1.0);
    let scale = scale(likely, 1.0 - likely).max(scale(1.0 - likely, likely));
    let (a, b) = (a / scale, b / scale);
    let law = |share: f64| {
        let (at_a, at_b) = (a * share, b * (1.0 - share));
        [at_a, (1.0 - at_a - at_b).max(0.0), at_b]
    };
    Some(Counts {
        first: law(likely),
        second: law(1.0 - likely),
    })
}

fn variance(law: &[f64; 3], factors: &[f64; 3]) -> f64 {
    let each = || law.iter().zip(factors);
    let mean: f64 = each().map(|(p, factor)| p * factor.ln()).sum();
    each()
        .map(|(p, factor)| p * (factor.ln() - mean).powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Laplace at ε = 1.25 in place of 1, with cells at 0 and 1.
    #[test]
    fn nearer_leaks_need_more_samples() {
        let cells = Counts {
            first: [50.0, 32.0, 18.0],
            second: [18.0, 32.0, 50.0],
        };
        let needed = |epsilon: f64, alpha: f64| {
            samples_to_find(&cells, Allowed::privacy(1.0, 0.0), epsilon, alpha, 0.9)
        };
        let (near, far) = (needed(1.25, 0.05).unwrap(), needed(2.0, 0.05).unwrap());
        assert!(
            (1_000..6_000).contains(&near) && (80..400).contains(&far),
            "{near} {far}"
        );
        assert!(needed(1.25, 1e-5).unwrap() > 3 * near / 2);
        assert_eq!(needed(0.9, 0.05), None);
        assert_eq!(
            samples_to_find(
                &Counts::default(),
                Allowed::privacy(1.0, 0.0),
                2.0,
                0.05,
                0.9
            ),
            None
        );
    }
}
