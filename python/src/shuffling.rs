//! Shuffling of rows within groups: `leakgauge permute` with columns in memory.

use leakgauge::base::error::{Error, Result};
use leakgauge::exact::permutation::Distance;
use leakgauge::permute::{Grouping, OrderChoice, OrderName, ReleaseOptions, Table, release};
use leakgauge::report;
use pyo3::prelude::*;

use crate::options::one_of;
use crate::work;
use crate::written::Written;

/// Keyword arguments of `permute`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PermuteKeywords {
    #[pyo3(item("move"))]
    moved: Vec<String>,
    groups: String,
    alpha: Option<f64>,
    within: bool,
    by: Vec<String>,
    radius: Option<f64>,
    size: Option<usize>,
    edges: Option<String>,
    group_file: Option<String>,
    id: Option<String>,
    distance: String,
    order: String,
    bound_by_width: bool,
    epsilon: Option<f64>,
    randomizer: Option<String>,
    values: Vec<String>,
    already_epsilon: Option<f64>,
    subsets: Vec<u64>,
    also: Vec<f64>,
    also_group_file: Vec<String>,
    previous: Vec<f64>,
    delta: f64,
    eta: f64,
    trials: Option<u64>,
    confidence: f64,
    seed: Option<u64>,
    threads: Option<usize>,
}

/// The row (from 0) whose values each row receives; the randomized values of columns that have some, before that
/// shuffle; the report.
type Shuffled = (Vec<u32>, Vec<(String, Vec<String>)>, Written);

/// Shuffles columns within groups of rows.
#[pyfunction]
pub fn permute(
    py: Python<'_>,
    name: String,
    columns: Vec<(String, Vec<String>)>,
    keywords: PermuteKeywords,
) -> PyResult<Shuffled> {
    work::run(py, keywords.threads, move || {
        let options = keywords.options()?;
        let table = Table::from_columns(&name, &columns)?;
        let mut made = release(&table, &[name], &options)?;
        made.report.out = Some("memory".to_owned());
        let randomized = columns.iter().enumerate().filter_map(|(at, (name, _))| {
            let values = made.randomized(at)?;
            Some((name.clone(), values.to_vec()))
        });
        let randomized = randomized.collect();
        let written = Written::of(|format, out| report::write_permute(&made.report, format, out))?;
        Ok((made.permutation, randomized, written))
    })
}

impl PermuteKeywords {
    fn options(&self) -> Result<ReleaseOptions> {
        if let Some(epsilon) = self.epsilon
            && !(epsilon > 0.0 && epsilon.is_finite())
        {
            return Err(Error::setting(
                "epsilon",
                epsilon,
                "must be a positive number",
            ));
        }
        let randomizer = match (self.epsilon, &self.randomizer) {
            (Some(_), Some(_)) => {
                return Err(Error::option("epsilon", "does not go with randomizer="));
            }
            (Some(epsilon), None) => Some(format!("randomized-response(epsilon={epsilon})")),
            (None, given) => given.clone(),
        };
        if randomizer.is_none() && !self.values.is_empty() {
            return Err(Error::option("values", "needs epsilon= or randomizer="));
        }
        Ok(ReleaseOptions {
            groups: self.grouping()?,
            id: self.id.clone(),
            alpha: self.alpha()?,
            within: self.within,
            distance: match self.distance.as_str() {
                "kendall" => Distance::Kendall,
                "hamming" => Distance::Hamming,
                other => return Err(one_of("distance", other, ["kendall", "hamming"])),
            },
            order: self.order()?,
            order_file: None,
            bound_by_width: self.bound_by_width,
            moved: self.moved.clone(),
            randomizer,
            values: self.values.clone(),
            prior_epsilon: self.already_epsilon,
            subsets: self.subsets.clone(),
            alternative_radii: self.also.clone(),
            other_files: self.also_group_file.clone(),
            previous: self.previous.clone(),
            delta: self.delta,
            eta: self.eta,
            confidence: self.confidence,
            trials: self.trials,
            seed: self.seed,
        })
    }

    /// The number, or one that is not used where every group is shuffled by itself.
    fn alpha(&self) -> Result<f64> {
        match (self.alpha, self.within) {
            (Some(alpha), false) => Ok(alpha),
            (None, true) => Ok(1.0),
            (Some(_), true) => Err(Error::option("alpha", "does not go with within=True")),
            (None, false) => Err(Error::option("alpha", "is missing")
                .with_hint("give alpha=, or within=True to shuffle every group by itself")),
        }
    }

    fn order(&self) -> Result<OrderChoice> {
        const NAMES: [&str; 6] = [
            "best",
            "narrowest",
            "breadth-first",
            "reverse-cuthill-mckee",
            "two-ended",
            "sweep",
        ];
        Ok(OrderChoice::Named(match self.order.as_str() {
            "best" => return Ok(OrderChoice::Best),
            "narrowest" => return Ok(OrderChoice::Narrowest),
            "breadth-first" => OrderName::BreadthFirst,
            "reverse-cuthill-mckee" => OrderName::ReverseCuthillMckee,
            "two-ended" => OrderName::TwoEnded,
            "sweep" => OrderName::Sweep,
            other => return Err(one_of("order", other, NAMES)),
        }))
    }

    /// Refuses what does not apply to the kind of groups, and the lack of what it needs.
    fn check_grouping(&self) -> Result<()> {
        let needed: &[&str] = match self.groups.as_str() {
            "distance" | "haversine" => &["by", "radius"],
            "nearest" => &["by", "size"],
            "path" => &["edges", "radius"],
            "equal" => &["by"],
            "file" => &["group_file"],
            other => {
                let kinds = ["distance", "haversine", "nearest", "path", "equal", "file"];
                return Err(one_of("groups", other, kinds));
            }
        };
        for (field, is_given) in [
            ("by", !self.by.is_empty()),
            ("radius", self.radius.is_some()),
            ("size", self.size.is_some()),
            ("edges", self.edges.is_some()),
            ("group_file", self.group_file.is_some()),
        ] {
            if is_given != needed.contains(&field) {
                let problem = match is_given {
                    true => format!("does not apply to groups=\"{}\"", self.groups),
                    false => format!("is missing, which groups=\"{}\" needs", self.groups),
                };
                return Err(Error::option(field, problem));
            }
        }
        Ok(())
    }

    fn grouping(&self) -> Result<Grouping> {
        self.check_grouping()?;
        let by = self.by.clone();
        let radius = self.radius.unwrap_or_default();
        Ok(match self.groups.as_str() {
            "distance" => Grouping::Distance { by, radius },
            "haversine" => Grouping::Earth { by, radius },
            "nearest" => Grouping::Nearest {
                by,
                size: self.size.unwrap_or_default(),
            },
            "path" => Grouping::Path {
                edges: self.edges.clone().unwrap_or_default(),
                length: whole(radius)?,
            },
            "equal" => match &by[..] {
                [column] => Grouping::Equal { by: column.clone() },
                _ => {
                    let problem = "must be one column for groups=\"equal\"";
                    return Err(Error::setting("by", by.join(","), problem));
                }
            },
            _ => Grouping::Listed {
                file: self.group_file.clone().unwrap_or_default(),
            },
        })
    }
}

fn whole(radius: f64) -> Result<u32> {
    if radius >= 0.0 && radius.fract() == 0.0 && radius <= f64::from(u32::MAX) {
        return Ok(radius as u32);
    }
    let problem = "must be a whole number of edges for groups=\"path\"";
    Err(Error::setting("radius", radius, problem))
}
