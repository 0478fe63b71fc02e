//! Audits of functions: what to call next, and what the outputs prove.

use leakgauge::base::error::Result;
use leakgauge::claim::Claim;
use leakgauge::query::samples::{Cell, Column};
use leakgauge::query::{self, Allowed, Counts, QueryOptions, Stop};
use leakgauge::report::{QueryReport, QuerySetting};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{OptionError, name_options, raised, unwritten};

/// A value in an output, as Python has it.
#[derive(FromPyObject)]
enum Value {
    #[pyo3(transparent)]
    Integer(i64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Word(String),
}

/// Outputs: columns of equal lengths.
#[derive(FromPyObject)]
enum Outputs<'py> {
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Integers(PyReadonlyArray1<'py, i64>),
    #[pyo3(transparent)]
    Vectors(PyReadonlyArray2<'py, f64>),
    #[pyo3(transparent)]
    Columns(Vec<Vec<Option<Value>>>),
}

impl Outputs<'_> {
    fn columns(&self) -> Vec<Column> {
        match self {
            Outputs::Numbers(values) => vec![Column::Numbers(values.as_array().to_vec())],
            Outputs::Integers(values) => vec![Column::Integers(values.as_array().to_vec())],
            Outputs::Vectors(values) => {
                let columns = values.as_array();
                let columns = columns.columns().into_iter();
                columns
                    .map(|column| Column::Numbers(column.to_vec()))
                    .collect()
            }
            Outputs::Columns(columns) => columns.iter().map(|column| typed(column)).collect(),
        }
    }
}

fn typed(values: &[Option<Value>]) -> Column {
    let cell = |value: &Option<Value>| match value {
        None => Cell::Missing,
        Some(Value::Integer(value)) => Cell::Integer(*value),
        Some(Value::Number(value)) => Cell::Number(*value),
        Some(Value::Word(word)) => Cell::Word(word.clone()),
    };
    let numbers: Option<Vec<f64>> = values
        .iter()
        .map(|value| match value {
            Some(Value::Number(value)) => Some(*value),
            _ => None,
        })
        .collect();
    numbers.map_or_else(
        || Column::Cells(values.iter().map(cell).collect()),
        Column::Numbers,
    )
}

/// A sequential audit: asks for draws, takes outputs.
#[pyclass(module = "leakgauge._native")]
pub struct Auditor {
    auditor: query::Auditor,
    labels: Vec<String>,
    setting: QuerySetting,
}

#[pymethods]
impl Auditor {
    #[new]
    #[pyo3(signature = (labels, claims, *, alpha, max_samples, batch, seed, pairs, bits, single))]
    #[allow(clippy::too_many_arguments, reason = "one keyword an option")]
    fn new(
        labels: Vec<String>,
        claims: Vec<String>,
        alpha: f64,
        max_samples: u64,
        batch: Option<usize>,
        seed: u64,
        pairs: Option<Vec<(usize, usize)>>,
        bits: bool,
        single: bool,
    ) -> PyResult<Self> {
        name_options();
        let claims: Result<Vec<Claim>> = claims.iter().map(|text| Claim::parse(text)).collect();
        let options = QueryOptions {
            claims: claims.map_err(raised)?,
            alpha,
            max_samples,
            batch,
            seed,
            pairs,
            bits,
            single,
            ..QueryOptions::default()
        };
        let auditor = query::Auditor::new(&labels, options).map_err(raised)?;
        Ok(Auditor {
            auditor,
            labels,
            setting: QuerySetting {
                alpha,
                max_samples,
                seed,
            },
        })
    }

    /// Inputs with how many outputs of each, in this order; `None` once the audit is over.
    fn next(&mut self) -> Option<Vec<(usize, usize)>> {
        self.auditor.wanted().map(<[_]>::to_vec)
    }

    /// The outputs that were asked for.
    fn push(&mut self, py: Python<'_>, outputs: Outputs<'_>) -> PyResult<()> {
        let columns = outputs.columns();
        py.detach(|| self.auditor.push(columns)).map_err(raised)
    }

    /// How many outputs there are.
    fn drawn(&self) -> u64 {
        self.auditor.drawn()
    }

    /// Ends the audit.
    fn finish(&mut self, reason: &str) -> PyResult<()> {
        self.auditor.finish(match reason {
            "time" => Stop::Time,
            "interrupted" => Stop::Interrupted,
            other => return Err(PyRuntimeError::new_err(format!("no reason {other}"))),
        });
        Ok(())
    }

    /// The report, as JSON. Without `limits` it is made in no time.
    #[pyo3(signature = (limits = true))]
    fn report(&self, py: Python<'_>, limits: bool) -> PyResult<String> {
        py.detach(|| {
            let found = self.auditor.standing(limits);
            let report = QueryReport::new(&found, &self.labels, self.setting);
            serde_json::to_string(&report)
        })
        .map_err(unwritten)
    }

    /// What says how many samples find a leak.
    fn power(&self, py: Python<'_>) -> Option<Power> {
        py.detach(|| self.auditor.power()).map(Power)
    }
}

/// What says how many samples find a leak; it can be pickled.
#[pyclass(frozen, module = "leakgauge._native")]
pub struct Power(query::Power);

/// Share of the capital, cells of either input, different scores.
type Attacker = (f64, [f64; 3], [f64; 3], usize);

#[pymethods]
impl Power {
    #[new]
    fn new(
        allowed: (f64, f64),
        alpha: f64,
        pairs: usize,
        attackers: Vec<Attacker>,
    ) -> PyResult<Self> {
        if pairs == 0 {
            return Err(PyRuntimeError::new_err("no pairs"));
        }
        let attackers = attackers.into_iter().map(attacker);
        Ok(Power(query::Power {
            allowed: Allowed {
                weight: allowed.0,
                delta: allowed.1,
            },
            alpha,
            pairs,
            attackers: attackers.collect(),
        }))
    }

    fn __getnewargs__(&self) -> ((f64, f64), f64, usize, Vec<Attacker>) {
        let of = &self.0;
        let attackers = of.attackers.iter().map(|attacker| {
            let cells = &attacker.cells;
            (attacker.share, cells.first, cells.second, attacker.scores)
        });
        let allowed = (of.allowed.weight, of.allowed.delta);
        (allowed, of.alpha, of.pairs, attackers.collect())
    }

    /// About how many samples find a pair of this epsilon with this probability.
    fn samples_to_find(&self, py: Python<'_>, epsilon: f64, power: f64) -> PyResult<Option<u64>> {
        if !(power > 0.5 && power < 1.0) {
            return Err(OptionError::new_err(
                "power=: must be above 0.5 and below 1",
            ));
        }
        Ok(py.detach(|| self.0.samples_to_find(epsilon, power)))
    }
}

fn attacker((share, first, second, scores): Attacker) -> query::Attacker {
    query::Attacker {
        share,
        cells: Counts { first, second },
        scores,
    }
}
