//! Keyword arguments as options of the library. The Python side has put every value into one plain form.

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{
    Attacker, AuditOptions, Design, PriorChoice, RequestedFigures, SplitChoice, check_scores,
};
use leakgauge::base::error::{Error, Result};
use leakgauge::base::naming::setting;
use leakgauge::base::suggest;
use leakgauge::base::time::{ClockStep, TimeUnit};
use leakgauge::claim::Claim;
use leakgauge::log::{
    HeaderChoice, Like, ListReading, MAX_ROWS, Missing, ReadOptions, RowFilter, ScoreColumns,
    SecretRules,
};
use pyo3::prelude::*;

/// What missing values are by default: refused.
const REFUSED: &str = "error";

/// How a log is read and audited; fields are called like the keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Keywords {
    secret: Option<String>,
    observe: Option<Vec<String>>,
    claims: Vec<String>,
    confidence: f64,
    seed: u64,
    scorer: String,
    scores: Option<Vec<String>>,
    budget: String,
    quick: bool,
    split: String,
    design: Option<String>,
    attacker: Option<String>,
    unit: Option<String>,
    clock_frequency: Option<f64>,
    clock_step: Option<String>,
    prior: Option<Vec<(String, f64)>>,
    prior_name: String,
    margin: f64,
    neighbors: Vec<(String, String)>,
    reconstruction: Vec<f64>,
    tries: Vec<u64>,
    at_order: Vec<f64>,
    header: Option<bool>,
    delimiter: Option<u8>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    count: Option<String>,
    group: Option<String>,
    block: Option<String>,
    blocks: bool,
    row_id: Option<String>,
    secrets: Vec<String>,
    merge: Option<String>,
    secret_map: Option<String>,
    missing: String,
    keep: Vec<(String, Vec<String>)>,
    drop: Vec<(String, Vec<String>)>,
    skip_bad: u64,
    like: Option<String>,
    wide: bool,
    list: Vec<String>,
    resolution: Vec<(String, f64)>,
    fit_on: Option<String>,
    max_rows: Option<u64>,
    /// How many threads work.
    pub threads: Option<usize>,
}

impl Keywords {
    /// Whether rows come in units.
    pub fn has_units(&self) -> bool {
        self.group.is_some() || self.is_blocked()
    }

    /// Whether rows come in blocks of measurements.
    fn is_blocked(&self) -> bool {
        self.block.is_some() || self.blocks
    }

    /// Whether a missing value is an error before the log is read. A column of a wide log may be shorter than others.
    pub fn refuses_missing(&self) -> bool {
        self.missing == REFUSED && !self.wide
    }

    /// How to read, from these files if any.
    pub fn reading(&self, files: Vec<String>) -> Result<ReadOptions> {
        let scorer = self.scorer()?;
        check_scores(&scorer.into(), self.scores.is_some())?;
        // Blocks are numbered in their order.
        let keep_order = self.split()? == SplitChoice::Blocks && !self.is_blocked();
        // A split by time or by units needs all rows, so only an explicit limit applies.
        let most = (!keep_order && !self.has_units()).then_some(MAX_ROWS);
        Ok(ReadOptions {
            columnar: leakgauge::log::COLUMNAR,
            objects: leakgauge::log::OBJECTS,
            files,
            directories: Vec::new(),
            fit_on: self.fit_on.clone(),
            secret: self.secret.clone(),
            secret_from: None,
            observe: self.observe.clone(),
            count: self.count.clone(),
            group: self.group.clone(),
            block: self.block.clone(),
            blocks: self.blocks,
            row_id: self.row_id.clone(),
            header: match self.header {
                None => HeaderChoice::Detect,
                Some(true) => HeaderChoice::Present,
                Some(false) => HeaderChoice::Absent,
            },
            delimiter: self.delimiter,
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            timed: self.is_timed()?,
            resolution: self.resolution.clone(),
            lists: self
                .list
                .iter()
                .map(|text| ListReading::parse(text))
                .collect::<Result<_>>()?,
            wide: self.wide,
            scores: self
                .scores
                .as_deref()
                .map(ScoreColumns::parse)
                .transpose()?,
            secrets: self.secrets.clone(),
            merge: self.rules()?,
            missing: self.missing()?,
            filters: self.filters(),
            skip_bad: self.skip_bad,
            like: self.like()?,
            keep_order,
            max_rows: self.max_rows.or(most),
            seed: self.seed,
            ..ReadOptions::default()
        })
    }

    /// The rules that join secrets.
    fn rules(&self) -> Result<Option<SecretRules>> {
        match (&self.merge, &self.secret_map) {
            (Some(rules), None) => SecretRules::parse(rules).map(Some),
            (None, Some(file)) => SecretRules::read(file).map(Some),
            (None, None) => Ok(None),
            (Some(rules), Some(_)) => Err(Error::setting(
                "merge",
                rules,
                "cannot be together with a file of such rules",
            )),
        }
    }

    /// The conditions that rows pass.
    fn filters(&self) -> Vec<RowFilter> {
        let kept = self.keep.iter().map(|condition| (condition, true));
        let dropped = self.drop.iter().map(|condition| (condition, false));
        let filter = |((column, values), keeps): (&(String, Vec<String>), bool)| RowFilter {
            column: column.clone(),
            values: values.clone(),
            keeps,
        };
        kept.chain(dropped).map(filter).collect()
    }

    fn missing(&self) -> Result<Missing> {
        match self.missing.as_str() {
            REFUSED => Ok(Missing::Refuse),
            "drop" => Ok(Missing::Drop),
            "label" => Ok(Missing::Label),
            "last" => Ok(Missing::Last),
            other => Err(one_of("missing", other, [REFUSED, "label", "drop", "last"])),
        }
    }

    fn like(&self) -> Result<Option<Like>> {
        let named = |name: &str| {
            let found = Like::ALL.into_iter().find(|like| like.name() == name);
            found.ok_or_else(|| one_of("like", name, Like::ALL.map(Like::name)))
        };
        self.like.as_deref().map(named).transpose()
    }

    fn design(&self) -> Result<Design> {
        match self.design.as_deref() {
            None => Ok(Design::default()),
            Some("many-runs") => Ok(Design::ManyRuns),
            Some("one-run") => Err(
                Error::setting("design", "one-run", "is for scores in memory")
                    .with_hint("call audit_scores(include=…, scores=…, design=\"one-run\")"),
            ),
            Some(other) => Err(one_of("design", other, ["many-runs", "one-run"])),
        }
    }

    fn attacker(&self) -> Result<Attacker> {
        match self.attacker.as_deref() {
            None => Ok(Attacker::default()),
            Some("unit") => Ok(Attacker::OfUnits),
            Some(other) => Err(one_of("attacker", other, ["unit"])),
        }
    }

    fn unit(&self) -> Result<Option<TimeUnit>> {
        let named = |name: &str| {
            let found = TimeUnit::parse(name);
            found.ok_or_else(|| one_of("unit", name, TimeUnit::ALL.map(TimeUnit::name)))
        };
        self.unit.as_deref().map(named).transpose()
    }

    /// Whether they say that what is observed are times.
    fn is_timed(&self) -> Result<bool> {
        let claims = self.claims.iter().map(|text| Claim::parse(text));
        let options = AuditOptions {
            unit: self.unit()?,
            clock_frequency: self.clock_frequency,
            clock_step: self.clock_step()?,
            claims: claims.collect::<Result<_>>()?,
            ..AuditOptions::default()
        };
        Ok(options.is_timed())
    }

    fn clock_step(&self) -> Result<Option<ClockStep>> {
        let read = |text: &str| {
            ClockStep::parse(text).ok_or_else(|| {
                Error::parameter(
                    setting("clock_step", text),
                    "is no step of a clock: a number that is not negative, with a unit (\"1ms\") or in that of the log",
                )
            })
        };
        self.clock_step.as_deref().map(read).transpose()
    }

    /// How to audit.
    pub fn auditing(&self) -> Result<AuditOptions> {
        Ok(AuditOptions {
            confidence: self.confidence,
            seed: self.seed,
            attacks: self.scorer()?.into(),
            budget: self.budget.parse()?,
            quick: self.quick,
            split: self.split()?,
            unit: self.unit()?,
            clock_frequency: self.clock_frequency,
            clock_step: self.clock_step()?,
            prior: self.prior()?,
            margin: self.margin,
            claims: self
                .claims
                .iter()
                .map(|text| Claim::parse(text))
                .collect::<Result<_>>()?,
            neighbors: self
                .neighbors
                .iter()
                .map(|(a, b)| [a.clone(), b.clone()])
                .collect(),
            design: self.design()?,
            attacker: self.attacker()?,
            requested: RequestedFigures {
                payoff: None,
                reconstruction: self.reconstruction.clone(),
                tries: self.tries.clone(),
                orders: self.at_order.clone(),
                order: 0,
            },
        })
    }

    fn scorer(&self) -> Result<ScorerChoice> {
        let names = ScorerChoice::ALL.iter().map(|choice| choice.name());
        let found = ScorerChoice::ALL
            .iter()
            .find(|choice| choice.name() == self.scorer);
        found
            .copied()
            .ok_or_else(|| one_of("scorer", &self.scorer, names))
    }

    fn split(&self) -> Result<SplitChoice> {
        match self.split.as_str() {
            "random" => Ok(SplitChoice::Random),
            "blocks" => Ok(SplitChoice::Blocks),
            other => Err(one_of("split", other, ["random", "blocks"])),
        }
    }

    fn prior(&self) -> Result<PriorChoice> {
        if let Some(given) = &self.prior {
            return Ok(PriorChoice::Given(given.iter().cloned().collect()));
        }
        match self.prior_name.as_str() {
            "uniform" => Ok(PriorChoice::Uniform),
            "empirical" => Ok(PriorChoice::Empirical),
            other => Err(one_of("prior", other, ["uniform", "empirical"])
                .with_hint("write \"uniform\", \"empirical\" or {label: probability, …}")),
        }
    }
}

/// An error of a name that is none of these.
pub fn one_of<'n>(
    field: &str,
    written: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
) -> Error {
    let listed: Vec<&str> = names.clone().into_iter().collect();
    let problem = format!("is none of {}", listed.join(", "));
    let error = Error::setting(field, written, problem);
    match suggest::nearest(written, names) {
        Some(name) => error.with_hint(format!("did you mean {name:?}?")),
        None => error,
    }
}
