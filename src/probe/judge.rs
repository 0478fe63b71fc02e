//! Judging blocks while they are collected, to stop as soon as the claims are decided.
//!
//! Blocks are judged as those of a log that is followed: limits hold whenever the collection stops.

use super::{BEFORE, BEHIND, ProbeOptions};
use crate::audit::slower;
use crate::follow::{BlockMonitor, FollowOptions, Line};
use leakgauge_base::error::{Error, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};
use leakgauge_base::time::TimeUnit;
use leakgauge_log::Block;

/// Blocks before claims are looked at for the first time, and then between two looks at least.
const FIRST_LOOK: u64 = 20;
/// Looking takes time, so that it is done again after this part of the blocks so far.
const NEXT_LOOK: f64 = 0.05;

/// Judges the blocks that are collected.
pub struct Judge {
    /// Until the first answer says in which unit times are.
    options: Option<FollowOptions>,
    observe: Option<String>,
    monitor: Option<BlockMonitor>,
    next_look: u64,
}

impl Judge {
    /// A judge of answers, or of one of their fields: its name, or that of the time of the round trip.
    ///
    /// # Errors
    /// No claim; a level out of range; a claim that cannot be followed; a column that is no answer.
    pub fn new(options: FollowOptions, observe: Option<String>) -> Result<Self> {
        if options.claims.is_empty() {
            return Err(
                Error::parameter(setting("until", "decided"), "needs a claim to decide").with_hint(
                    format!(
                        "{}, or who measures: {}",
                        setting("claim", "'time-difference(100ns)'"),
                        setting("attacker", "lan")
                    ),
                ),
            );
        }
        options.check()?;
        if let Some(name) = observe.as_deref().filter(|name| BEFORE.contains(name)) {
            let problem = format!("is no answer: name a field of the answers, or {BEHIND}");
            return Err(Error::parameter(setting("observe", name), problem));
        }
        Ok(Judge {
            options: Some(options),
            observe,
            monitor: None,
            next_look: FIRST_LOOK,
        })
    }

    /// Checks that claims name classes that are asked for.
    ///
    /// # Errors
    /// A claim about another one.
    pub(super) fn check(&self, classes: &[String]) -> Result<()> {
        let mut claims = self.options.iter().flat_map(|options| &options.claims);
        claims.try_for_each(|claim| slower(claim, classes).map(drop))
    }

    /// What is known now; `None` before the first block.
    ///
    /// # Errors
    /// Those of [`BlockMonitor::line`].
    pub fn line(&mut self) -> Result<Option<Line>> {
        let monitor = self.monitor.as_mut();
        monitor.map(BlockMonitor::line).transpose()
    }

    /// The number that is judged of an answer, given the columns between [`BEFORE`] and [`BEHIND`].
    pub(super) fn number(
        &self,
        columns: &[String],
        fields: &[String],
        time: u128,
    ) -> std::result::Result<f64, String> {
        let text = match (&self.observe, fields) {
            (Some(name), _) if name == BEHIND => return Ok(time as f64),
            (Some(name), _) => {
                let at = columns.iter().position(|column| column == name);
                let at = at.ok_or_else(|| {
                    format!(
                        "answered {}, and {} is to be judged",
                        listing(columns.iter().map(String::as_str)),
                        setting("observe", shorten(name))
                    )
                })?;
                &fields[at]
            }
            (None, [only]) => only,
            (None, _) => {
                return Err(format!(
                    "answered {}: name the field that is judged with {}",
                    listing(columns.iter().map(String::as_str)),
                    option("observe")
                ));
            }
        };
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!(
                "answered {:?}, and only numbers are judged ({})",
                shorten(text),
                setting("until", "decided")
            )),
        }
    }

    /// Takes a block; whether all claims are decided.
    ///
    /// # Errors
    /// A claim about another unit than that of the answers; attacks that cannot be learned.
    pub(super) fn take(
        &mut self,
        options: &ProbeOptions,
        is_timed: bool,
        block: Block,
    ) -> Result<bool> {
        if let Some(given) = self.options.take() {
            let is_timed = is_timed || self.observe.as_deref() == Some(BEHIND);
            let unit = is_timed.then_some(TimeUnit::Nanoseconds);
            self.monitor = Some(BlockMonitor::new(FollowOptions {
                unit: given.unit.or(unit),
                ..given
            })?);
        }
        let Some(monitor) = &mut self.monitor else {
            return Ok(false);
        };
        monitor.push(block, &options.classes)?;
        if monitor.blocks() < self.next_look {
            return Ok(false);
        }
        let blocks = monitor.blocks();
        self.next_look = blocks + FIRST_LOOK.max((NEXT_LOOK * blocks as f64) as u64);
        let line = monitor.line()?;
        Ok(line.is_violated() || line.all_hold())
    }
}
