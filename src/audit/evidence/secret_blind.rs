//! What is known of rows without their secrets: tests that are chosen by that may be judged on all rows of a log.

use rand_chacha::ChaCha8Rng;

use crate::audit::prepare::Prepared;
use leakgauge_attack::pairwise::column_events::{ColumnEvents, are_few, column_events};
use leakgauge_base::quantity::PrivacyParameter;
use leakgauge_exact::claim::Guarantee;
use leakgauge_stats::random::Stream;
use leakgauge_stats::secret_blind::TakenRows;

/// With fewer rows of a secret one test is all that there is level for.
const FEWEST_ROWS: u64 = 50;
/// With so many rows of a secret attacks learn well enough.
const MOST_ROWS: u64 = 40_000;
/// With more rows times columns groups would take seconds to form.
const MOST_CELLS: u64 = 1 << 21;
/// What groups are kept by if nothing is claimed.
const UNCLAIMED: f64 = 1.0;
/// Of more claims the smallest, the middle and the largest count.
const MOST_CLAIMS: usize = 3;

/// What tests are chosen by.
pub(crate) struct Blind {
    /// The ε at δ = 0 that tests are made to refute; none where only events are tried, which need no such number.
    pub references: Vec<f64>,
    /// `None` where coins called a secret more often than it has rows.
    pub rows: Option<BlindRows>,
}

/// Rows that coins took.
pub(crate) struct BlindRows {
    pub taken: TakenRows,
    pub events: ColumnEvents,
    /// What taking them has left of the random numbers.
    pub rng: ChaCha8Rng,
}

impl Blind {
    /// Of a log of two secrets. `None` where no such test is tried; that follows from numbers of rows and columns, from
    /// the attacks asked for and from the claims.
    pub fn of(prepared: &Prepared, has_many_rows: bool) -> Option<Self> {
        let (observations, counts) = (&prepared.log.observations, &prepared.log.counts);
        let least = counts.rows().iter().copied().min().unwrap_or(0);
        let is_tried = prepared.options.attacks.are_auto() && prepared.log.secrets.len() == 2;
        if !is_tried || !are_few(observations) || least < FEWEST_ROWS {
            return None;
        }
        let references = references(prepared);
        if has_many_rows && references.is_empty() {
            return None;
        }
        let kinds: Vec<(u32, [u64; 2])> = counts
            .by_symbol()
            .map(|cells| {
                let mut of = [0; 2];
                for cell in cells {
                    of[cell.secret as usize] += cell.count;
                }
                (cells[0].symbol, of)
            })
            .collect();
        let mut rng = prepared.random.rng(Stream::SecretBlind);
        let rows = TakenRows::take(&kinds, &mut rng).map(|taken| BlindRows {
            events: column_events(observations, &taken),
            taken,
            rng,
        });
        Some(Blind { references, rows })
    }
}

/// The ε by which groups are kept: those that are claimed at δ = 0. None where groups are not tried: in logs of one
/// column, of many rows, and where other ε or curves are claimed and none at δ = 0.
fn references(prepared: &Prepared) -> Vec<f64> {
    let columns = prepared.log.observations.columns().len() as u64;
    let rows = prepared.log.counts.rows();
    let least = rows.iter().copied().min().unwrap_or(0);
    if columns < 2 || least >= MOST_ROWS || rows.iter().sum::<u64>() * columns > MOST_CELLS {
        return Vec::new();
    }
    let claims = || prepared.claims.iter();
    let promised = claims().filter_map(|claim| Some(claim.privacy()?.between(0, 1)));
    let promised: Vec<Guarantee> = promised.collect();
    let mut claimed: Vec<f64> = promised
        .iter()
        .filter(|one| one.quantity() == PrivacyParameter::Epsilon { delta: 0.0 })
        .map(|one| one.parameter())
        .filter(|epsilon| epsilon.is_finite())
        .collect();
    claimed.sort_unstable_by(f64::total_cmp);
    claimed.dedup();
    let is_other = |one: &Guarantee| matches!(one.quantity(), PrivacyParameter::Epsilon { .. });
    let other = promised.iter().any(is_other) || claims().any(|claim| claim.curve().is_some());
    match claimed.len() {
        0 if other => Vec::new(),
        0 => vec![UNCLAIMED],
        1..=MOST_CLAIMS => claimed,
        many => vec![claimed[0], claimed[many / 2], claimed[many - 1]],
    }
}
