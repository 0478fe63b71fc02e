//! What the limits rest on.

use crate::audit::options::{AuditOptions, PriorChoice, SplitChoice};
use leakgauge_log::{Decision, Log};

/// Something that limits rest on and that a log cannot show.
#[derive(Debug, Clone, PartialEq)]
pub enum Assumption {
    /// Rows are independent; those of a secret come from one distribution.
    IndependentRows,
    /// Units are independent; rows of a unit need not be. A random unit is met, and one of its rows seen.
    IndependentUnits {
        /// The column that names them.
        column: String,
    },
    /// Equal rows are observations that recurred, not copies of one.
    NoCopies,
    /// Errors of the attack depend on rows nearby only.
    DependenceNearby,
    /// The seed was not chosen by its result.
    Seed(u64),
    /// Claims and margin were settled before the log was looked at.
    ClaimsSettled,
    /// Some types of columns were inferred.
    TypesInferred,
    /// Scores were computed without the secrets of these rows.
    ScoresBlind {
        /// The columns of scores.
        columns: Vec<String>,
    },
    /// For claims of privacy: rows come from independent runs.
    IndependentRuns,
    /// The prior is the share of each secret in the log.
    EmpiricalPrior,
    /// The secrets were chosen before the log was taken.
    SecretsSettled,
    /// The pairs of neighbors were chosen before the log was looked at.
    NeighborsSettled,
    /// Training rows are not certification rows.
    SeparateLogs {
        /// The file that was learned from.
        file: String,
    },
    /// An observer sees a column in bins.
    Resolution {
        /// The column.
        column: String,
        /// The width of a bin.
        width: f64,
    },
}

/// The assumptions behind an audit.
pub(super) fn assumptions(log: &Log, options: &AuditOptions) -> Vec<Assumption> {
    let mut found = vec![
        match (options.split, &log.units) {
            (SplitChoice::Random, Some(units)) => Assumption::IndependentUnits {
                column: units.column.clone(),
            },
            (SplitChoice::Random, None) => Assumption::IndependentRows,
            (SplitChoice::Blocks, _) => Assumption::DependenceNearby,
        },
        Assumption::Seed(options.seed),
    ];
    let facts = &log.facts;
    let mut add = |holds: bool, assumption: Assumption| {
        if holds {
            found.push(assumption);
        }
    };
    add(!options.claims.is_empty(), Assumption::ClaimsSettled);
    let inferred = facts.decided.contains(&Decision::Inferred);
    add(inferred, Assumption::TypesInferred);
    if let Some(scores) = &facts.scores {
        let columns = scores.columns().into_iter().map(str::to_owned).collect();
        add(true, Assumption::ScoresBlind { columns });
        add(true, Assumption::IndependentRuns);
    }
    add(
        facts.row_id.is_none() && log.units.is_none(),
        Assumption::NoCopies,
    );
    let empirical = options.prior == PriorChoice::Empirical;
    add(empirical, Assumption::EmpiricalPrior);
    add(facts.narrowed, Assumption::SecretsSettled);
    add(!options.neighbors.is_empty(), Assumption::NeighborsSettled);
    if let Some(file) = &facts.fit_on {
        add(true, Assumption::SeparateLogs { file: file.clone() });
    }
    for column in log.observations.columns() {
        if let Some(width) = column.resolution {
            let column = column.name.clone();
            add(true, Assumption::Resolution { column, width });
        }
    }
    found
}
