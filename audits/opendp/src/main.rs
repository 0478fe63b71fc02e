//! Audits measurements of the OpenDP library: Laplace, Gaussian, geometric and randomized response.
//!
//! ```text
//! cargo run --release -p audit-opendp -- [ROWS]
//! ```
//!
//! Each measurement answers on two neighboring inputs, 0 and 1, and its log is audited against two
//! claims: the privacy that its own privacy map states, and the mechanism that it says it is. The result
//! is a markdown table. OpenDP draws from the system's entropy and takes no seed, so every run has other
//! logs; with 20 audits at 95 %, one claim refuted by chance would be no surprise, two or more would be.

use std::error::Error;
use std::fmt::{Display, Write};
use std::io::Cursor;

use leakgauge::audit::{AuditOptions, ClaimReport, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadOptions, read_from};
use opendp::combinators::make_zCDP_to_approxDP;
use opendp::domains::AtomDomain;
use opendp::error::Fallible;
use opendp::measurements::{
    make_gaussian, make_geometric, make_laplace, make_randomized_response_bool,
};
use opendp::measures::{MaxDivergence, ZeroConcentratedDivergence};
use opendp::metrics::AbsoluteDistance;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const EPSILONS: [f64; 5] = [0.1, 0.5, 1.0, 2.0, 4.0];
const ROWS: u64 = 100_000;
const DELTA: f64 = 1e-5;

/// What is audited: a log and the claims on it.
struct Measured {
    name: String,
    log: String,
    privacy: String,
    mechanism: String,
}

fn main() -> Result<()> {
    let rows = match std::env::args().nth(1) {
        Some(rows) => rows.parse()?,
        None => ROWS,
    };
    println!(
        "| measurement | claim | epsilon at least | verdict | mechanism | verdict | fit | rows |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for measure in [laplace, gaussian, geometric, randomized_response] {
        for epsilon in EPSILONS {
            println!("{}", judge(&measure(epsilon, rows)?, rows)?);
        }
    }
    Ok(())
}

/// A row of the table.
fn judge(measured: &Measured, rows: u64) -> Result<String> {
    let log = read_from(
        &measured.name,
        Cursor::new(measured.log.clone()),
        &ReadOptions::default(),
    )?;
    let options = AuditOptions {
        claims: vec![
            Claim::parse(&measured.privacy)?,
            Claim::parse(&measured.mechanism)?,
        ],
        ..AuditOptions::default()
    };
    let found = audit(&log, &options)?;
    let [privacy, mechanism] = [&found.claims[0], &found.claims[1]];
    let lower = privacy.estimate.lower;
    let fit = mechanism.fit.as_ref().and_then(|fit| fit.p_value);
    Ok(format!(
        "| {} | `{}` | {} | {} | `{}` | {} | {} | {rows} |",
        measured.name,
        measured.privacy,
        lower.map_or("none".to_owned(), |lower| format!("{lower:.4}")),
        word(privacy),
        measured.mechanism,
        word(mechanism),
        fit.map_or("none".to_owned(), |p| format!("p = {p:.3}")),
    ))
}

fn word(claim: &ClaimReport) -> &'static str {
    match claim.verdict {
        Verdict::Violated => "violated",
        Verdict::Holds => "holds",
        Verdict::Inconclusive => "not refuted",
    }
}

/// A log of the answers on 0 and on 1, in turn.
fn log<T: Display>(rows: u64, mut answer: impl FnMut(bool) -> Fallible<T>) -> Result<String> {
    let mut log = "secret,observation\n".to_owned();
    for row in 0..rows {
        let secret = row % 2 == 1;
        writeln!(log, "{},{}", u8::from(secret), answer(secret)?)?;
    }
    Ok(log)
}

fn laplace(epsilon: f64, rows: u64) -> Result<Measured> {
    let scale = 1.0 / epsilon;
    let measurement = make_laplace::<_, _, MaxDivergence>(
        AtomDomain::<f64>::new_non_nan(),
        AbsoluteDistance::<f64>::default(),
        scale,
        None,
    )?;
    Ok(Measured {
        name: format!("laplace, scale {scale}"),
        log: log(rows, |secret| {
            measurement.invoke(&f64::from(u8::from(secret)))
        })?,
        privacy: format!("ldp(epsilon={})", measurement.map(&1.0)?),
        mechanism: format!("laplace(scale={scale})"),
    })
}

/// The scale is the least, to three decimals, at which OpenDP's own conversion from ρ-zCDP allows ε.
fn gaussian(epsilon: f64, rows: u64) -> Result<Measured> {
    let of = |scale: f64| {
        make_gaussian::<_, _, ZeroConcentratedDivergence>(
            AtomDomain::<f64>::new_non_nan(),
            AbsoluteDistance::<f64>::default(),
            scale,
            None,
        )
    };
    let converted = |scale: f64| make_zCDP_to_approxDP(of(scale)?)?.map(&1.0)?.epsilon(DELTA);
    let (mut low, mut high) = (1, 1_000_000);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if converted(f64::from(middle) / 1000.0)? > epsilon {
            low = middle;
        } else {
            high = middle;
        }
    }
    let scale = f64::from(high) / 1000.0;
    let measurement = of(scale)?;
    Ok(Measured {
        name: format!("gaussian, scale {scale}"),
        log: log(rows, |secret| {
            measurement.invoke(&f64::from(u8::from(secret)))
        })?,
        privacy: format!("dp(epsilon={epsilon}, delta={DELTA})"),
        mechanism: format!("gaussian(sigma={scale})"),
    })
}

fn geometric(epsilon: f64, rows: u64) -> Result<Measured> {
    let scale = 1.0 / epsilon;
    let measurement = make_geometric::<_, _, MaxDivergence>(
        AtomDomain::<i64>::default(),
        AbsoluteDistance::<i64>::default(),
        scale,
        None,
    )?;
    Ok(Measured {
        name: format!("geometric, scale {scale}"),
        log: log(rows, |secret| measurement.invoke(&i64::from(secret)))?,
        privacy: format!("ldp(epsilon={})", measurement.map(&1)?),
        mechanism: format!("geometric(nu={epsilon})"),
    })
}

fn randomized_response(epsilon: f64, rows: u64) -> Result<Measured> {
    let truth = 1.0 / (1.0 + (-epsilon).exp());
    let measurement = make_randomized_response_bool(truth, false)?;
    Ok(Measured {
        name: format!("randomized response, truth {truth:.4}"),
        log: log(rows, |secret| Ok(u8::from(measurement.invoke(&secret)?)))?,
        privacy: format!("ldp(epsilon={})", measurement.map(&1)?),
        mechanism: format!("randomized-response(epsilon={epsilon})"),
    })
}
