//! What the order of rows says against their independence.

use crate::audit::warning::Warning;
use leakgauge_log::RowOrder;
use leakgauge_log::observations::{ColumnType, Observations};
use leakgauge_stats::order;

/// A diagnostic of the order alarms falsely at most this often, over all columns together.
const ALARM: f64 = 1e-3;
/// Smaller effects are not worth a warning, however significant.
const LEAST_EFFECT: f64 = 0.02;
/// Secrets alternate if equal neighbors have less than this part of the share that chance gives them.
const FAR_RARER: f64 = 0.5;

/// What the order of rows gives reason to doubt; secrets and observations by their numbers in the table.
pub(crate) fn order_warnings(
    observations: &Observations,
    secrets: usize,
    rows: &RowOrder,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = interleaving(&rows.secrets, secrets).into_iter().collect();
    warnings.extend(of_observations(observations, secrets, rows));
    warnings
}

/// Are equal secrets neighbors far more often than by chance, or far less often?
fn interleaving(rows: &[u32], secrets: usize) -> Option<Warning> {
    let order::NeighborTest {
        share,
        expected_share: expected,
        p_value,
        ..
    } = order::interleaving(rows, secrets);
    if p_value >= ALARM {
        None
    } else if share - expected > LEAST_EFFECT {
        Some(Warning::LabelsNotInterleaved { share, expected })
    } else if share < FAR_RARER * expected {
        Some(Warning::LabelsAlternate { share, expected })
    } else {
        None
    }
}

fn of_observations(observations: &Observations, secrets: usize, rows: &RowOrder) -> Vec<Warning> {
    let d = observations.dimensions();
    let categorical = usize::from(observations.category_count() > 1);
    // Two tests of autocorrelation a numeric column.
    let level = ALARM / (2 * d + categorical).max(1) as f64;
    let numeric = observations
        .columns()
        .iter()
        .filter(|column| column.kind != ColumnType::Categorical);
    let (mut autocorrelation, mut drift) = (Worst::default(), Worst::default());
    for (at, column) in numeric.enumerate() {
        let values: Vec<f64> = rows
            .symbols
            .iter()
            .map(|&symbol| observations.numbers(symbol)[at])
            .collect();
        let serial = order::rank_autocorrelation(&rows.secrets, &values, secrets);
        autocorrelation.offer(&column.name, serial.correlation, serial.p_value < level);
        let across = order::neighbor_correlation(&rows.secrets, &values, secrets);
        autocorrelation.offer(&column.name, across.correlation, across.p_value < level);
        let trend = order::drift(&rows.secrets, &values, secrets);
        drift.offer(&column.name, trend.correlation, trend.p_value < level);
    }
    if categorical > 0 {
        let labels = observations
            .columns()
            .iter()
            .filter(|column| column.kind != ColumnType::Numeric);
        let name = labels
            .map(|column| column.name.as_str())
            .collect::<Vec<_>>()
            .join(" with ");
        let codes: Vec<u32> = rows
            .symbols
            .iter()
            .map(|&symbol| observations.category(symbol))
            .collect();
        let serial = order::agreement_autocorrelation(&rows.secrets, &codes, secrets);
        autocorrelation.offer(
            &name,
            serial.share - serial.expected_share,
            serial.p_value < level,
        );
        let trend = order::category_drift(&rows.secrets, &codes, secrets);
        drift.offer(&name, trend.corrected_phi, trend.p_value < level);
    }
    let mut warnings = Vec::new();
    if let Some((column, correlation)) = autocorrelation.found {
        warnings.push(Warning::Autocorrelation {
            column,
            correlation,
        });
    }
    if let Some((column, correlation)) = drift.found {
        warnings.push(Warning::Drift {
            column,
            correlation,
        });
    }
    warnings
}

/// The column with the largest effect among those that alarm.
#[derive(Default)]
struct Worst {
    found: Option<(String, f64)>,
}

impl Worst {
    fn offer(&mut self, column: &str, effect: f64, alarms: bool) {
        let largest = self
            .found
            .as_ref()
            .map_or(LEAST_EFFECT, |(_, effect)| effect.abs());
        if alarms && effect.abs() > largest {
            self.found = Some((column.to_owned(), effect));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn secrets_in_turns_and_in_blocks_are_told_from_secrets_in_random_order() {
        let code = |rows: Vec<u32>| interleaving(&rows, 100).map(|warning| warning.code());
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        assert_eq!(
            code((0..5000).map(|row| row % 2).collect()),
            Some("labels-alternate")
        );
        assert_eq!(
            code((0..50_000).map(|row| row % 100).collect()),
            Some("labels-alternate")
        );
        assert_eq!(
            code((0..5000).map(|row| row / 100 % 2).collect()),
            Some("labels-not-interleaved")
        );
        assert_eq!(
            code((0..5000).map(|_| rng.random_range(0..2)).collect()),
            None
        );
        assert_eq!(code((0..8).map(|row| row % 2).collect()), None);
    }
}
