//! Axes: label, scale, range and ticks.

use libm::{floor, log10, pow};

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic; numbers that are not positive are left out.
    Log,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures, with the unit.
    pub label: String,
    /// The scale.
    pub scale: Scale,
    /// The range from start to end, in the unit of the label; `None` for the range of the data.
    pub range: Option<(f64, f64)>,
    /// Where the axis stands for all that lies before or after a number: that number, and where its label is. No other
    /// tick lies beyond.
    pub open: [Option<(f64, f64)>; 2],
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            ..Axis::default()
        }
    }

    /// A logarithmic axis over the range of the data.
    pub fn log(label: impl Into<String>) -> Self {
        Axis {
            scale: Scale::Log,
            ..Axis::linear(label)
        }
    }

    /// The same axis with a given range.
    #[must_use]
    pub fn from_to(mut self, from: f64, to: f64) -> Self {
        self.range = Some((from, to));
        self
    }
}

/// An axis with a known range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    scale: Scale,
    /// Ends on the scale: logarithms on a logarithmic one.
    from: f64,
    to: f64,
    open: [Option<(f64, f64)>; 2],
}

/// A mark on an axis.
pub(super) struct Tick {
    /// Where, as a share of the axis.
    pub at: f64,
    pub label: String,
    /// Whether it stands for all that lies before or after a number.
    pub is_open: bool,
}

/// Decades below which a logarithmic axis has the ticks of a linear one.
const FEW_DECADES: f64 = 0.7;
/// Decades that a logarithmic axis without a given range covers at least.
const LEAST_DECADES: f64 = 0.1;
/// The largest absolute value on an axis, so that differences stay finite.
const FARTHEST: f64 = 1e300;

impl Extent {
    pub fn new(axis: &Axis, data: impl Iterator<Item = f64>) -> Extent {
        let scale = axis.scale;
        let usable = |x: &f64| x.is_finite() && (scale == Scale::Linear || *x > 0.0);
        let given = axis
            .range
            .filter(|(from, to)| from < to && usable(from) && usable(to));
        let (from, to) = match given {
            Some((from, to)) => (position(scale, from), position(scale, to)),
            None => {
                let data = data.filter(usable);
                let (from, to) =
                    around(data.map(|x| position(scale, x.clamp(-FARTHEST, FARTHEST))));
                // Values that agree to many digits should look alike.
                let room = match scale {
                    Scale::Log => 0.5 * (LEAST_DECADES - (to - from)).max(0.0),
                    Scale::Linear => 0.0,
                };
                (from - room, to + room)
            }
        };
        Extent {
            scale,
            from,
            to,
            open: axis.open,
        }
    }

    /// The position of a number, 0 at the start and 1 at the end; `None` if it cannot be shown.
    pub fn place(&self, x: f64) -> Option<f64> {
        if self.scale == Scale::Log && x <= 0.0 {
            return None;
        }
        let place = (position(self.scale, x.clamp(-FARTHEST, FARTHEST)) - self.from)
            / (self.to - self.from);
        place.is_finite().then_some(place)
    }

    /// The number at a position.
    pub fn value(&self, place: f64) -> f64 {
        let at = self.from + place * (self.to - self.from);
        match self.scale {
            Scale::Linear => at,
            Scale::Log => pow(10.0, at),
        }
    }

    /// About this many ticks.
    pub fn ticks(&self, about: usize) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Linear => steps(self.from, self.to, about),
            Scale::Log => powers(self.from, self.to, about),
        };
        let step = values
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(f64::INFINITY, f64::min);
        let [before, after] = self.open.map(|open| open.map(|open| open.0));
        let closed = before.unwrap_or(f64::NEG_INFINITY)..=after.unwrap_or(f64::INFINITY);
        let inside = values
            .into_iter()
            .filter(|value| closed.contains(value))
            .filter_map(|value| {
                let at = self.place(value)?;
                // Ticks inside of a decade are as far apart as those of a linear axis.
                let label = match self.scale {
                    Scale::Log if self.to - self.from >= FEW_DECADES => power(value),
                    _ => number(value, step),
                };
                (-1e-9..=1.0 + 1e-9).contains(&at).then_some(Tick {
                    at,
                    label,
                    is_open: false,
                })
            });
        let [before, after] = self.open_ticks(step);
        before.into_iter().chain(inside).chain(after).collect()
    }

    /// The labels of what lies before and after a number.
    fn open_ticks(&self, step: f64) -> [Option<Tick>; 2] {
        let of = |at: usize, sign: &str| {
            let (limit, middle) = self.open[at]?;
            let limit = match self.scale {
                Scale::Linear => number(limit, 0.1 * step),
                Scale::Log => number(limit, 0.01 * limit),
            };
            Some(Tick {
                at: self.place(middle)?,
                label: format!("{sign} {limit}"),
                is_open: true,
            })
        };
        [of(0, "<"), of(1, ">")]
    }
}

fn position(scale: Scale, x: f64) -> f64 {
    match scale {
        Scale::Linear => x,
        Scale::Log => log10(x),
    }
}

/// The range from the smallest to the largest number with a margin; an arbitrary one without data.
fn around(data: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = data.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
        (least.min(x), most.max(x))
    });
    if least > most {
        return (0.0, 1.0);
    }
    let room = match most - least {
        0.0 => 0.5 * least.abs().max(1.0),
        span => 0.04 * span,
    };
    (least - room, most + room)
}

/// Multiples of 1, 2 or 5 times a power of ten, at most one more than `about`.
fn steps(from: f64, to: f64, about: usize) -> Vec<f64> {
    let least = (to - from) / about.max(1) as f64;
    let power = pow(10.0, floor(log10(least)));
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    let first = (from / step - 1e-9).ceil();
    (0..=about)
        .map(|k| (first + k as f64) * step)
        .filter(|value| *value <= to + 1e-9 * step)
        .collect()
}

/// Powers of ten, and also 2 and 5 times these unless that makes too many.
fn powers(from: f64, to: f64, about: usize) -> Vec<f64> {
    let decades = (to - from).max(1e-9);
    if decades < FEW_DECADES {
        let (from, to) = (pow(10.0, from), pow(10.0, to));
        return steps(from, to, about);
    }
    let every = (decades / about as f64).ceil().max(1.0);
    let of = |factors: &[f64]| -> Vec<f64> {
        let first = floor(from / every) * every;
        (0..)
            .map(|k| first + k as f64 * every)
            .take_while(|exponent| *exponent <= to + 1e-9)
            .flat_map(|exponent| {
                factors
                    .iter()
                    .map(move |factor| factor * pow(10.0, exponent))
            })
            .collect()
    };
    let finer = of(&[1.0, 2.0, 5.0]);
    let shown = |value: &&f64| (from - 1e-9..=to + 1e-9).contains(&log10(**value));
    if every == 1.0 && finer.iter().filter(shown).count() <= about + 1 {
        finer
    } else {
        of(&[1.0])
    }
}

/// A number with as many digits as the step between ticks needs.
pub(super) fn number(value: f64, step: f64) -> String {
    let step = if step.is_finite() && step > 0.0 {
        step
    } else {
        value.abs().max(1.0) / 100.0
    };
    let value = if value.abs() < step * 1e-6 {
        0.0
    } else {
        value
    };
    let digits = -floor(log10(step) + 1e-6);
    if value != 0.0 && (value.abs() >= 1e6 || digits > 4.0) {
        let significant = (floor(log10(value.abs())) + digits).clamp(0.0, 15.0) as usize;
        return format!("{value:.significant$e}").replace('-', "−");
    }
    format!("{value:.*}", digits.clamp(0.0, 4.0) as usize).replace('-', "−")
}

/// The label of a tick on a logarithmic axis: plain if short, else a power of ten.
fn power(value: f64) -> String {
    if (0.000_99..100_001.0).contains(&value) {
        let digits = -floor(log10(value) + 1e-9);
        return format!("{value:.*}", digits.max(0.0) as usize);
    }
    let exponent = floor(log10(value) + 1e-9);
    let factor = (value / pow(10.0, exponent)).round();
    let raised: String = format!("{exponent}").chars().map(raise).collect();
    if factor == 1.0 {
        format!("10{raised}")
    } else {
        format!("{factor}·10{raised}")
    }
}

fn raise(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, data: &[f64]) -> Vec<String> {
        let extent = Extent::new(axis, data.iter().copied());
        extent.ticks(5).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn marks_are_round_numbers() {
        let unit = Axis::linear("").from_to(0.0, 1.0);
        assert_eq!(
            labels(&unit, &[]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        let log = Axis::log("").from_to(1e-6, 10.0);
        assert_eq!(labels(&log, &[]), ["10⁻⁶", "10⁻⁴", "0.01", "1"]);
        let narrow = Axis::log("").from_to(1.0, 20.0);
        assert_eq!(labels(&narrow, &[]), ["1", "2", "5", "10", "20"]);
        let two_decades = Axis::log("").from_to(18.0, 1900.0);
        let all = ["20", "50", "100", "200", "500", "1000"];
        assert_eq!(labels(&two_decades, &[]), all);
    }

    #[test]
    fn no_label_is_repeated() {
        for (from, to) in [
            (0.1, 0.25),
            (0.13, 0.19),
            (3.0, 9.0),
            (1e-7, 3e-7),
            (1.0, 40.0),
        ] {
            for axis in [
                Axis::log("").from_to(from, to),
                Axis::linear("").from_to(from, to),
            ] {
                let mut labels = labels(&axis, &[]);
                let all = labels.len();
                labels.dedup();
                assert_eq!(labels.len(), all, "{axis:?}: {labels:?}");
            }
        }
        let clock = Axis::linear("").from_to(1_700_000_000.0, 1_700_000_060.0);
        let mut shown = labels(&clock, &[]);
        let all = shown.len();
        shown.dedup();
        assert!(all > 2 && shown.len() == all, "{shown:?}");
    }

    /// Values that agree to nine digits have ticks of few digits.
    #[test]
    fn a_logarithmic_axis_does_not_magnify_rounding() {
        let shown = labels(&Axis::log(""), &[0.02718281820, 0.02718281829]);
        assert!(shown.len() > 1, "{shown:?}");
        assert!(
            shown.iter().all(|label| label.chars().count() <= 6),
            "{shown:?}"
        );
    }

    /// Nothing, one value, infinities, numbers too far apart for a double.
    #[test]
    fn any_data_have_an_extent() {
        for axis in [Axis::linear(""), Axis::log("")] {
            for data in [
                &[][..],
                &[3.0],
                &[0.0],
                &[f64::NAN, f64::INFINITY, -1.0],
                &[-f64::MAX, f64::MAX],
                &[1e-300, 1e-299],
                &[1.0, 1.0 + 1e-15],
            ] {
                let extent = Extent::new(&axis, data.iter().copied());
                assert!(extent.from < extent.to, "{data:?}: {extent:?}");
                assert!(extent.ticks(5).len() < 20, "{data:?}");
                let place = extent.place(1.0);
                assert!(place.is_none_or(f64::is_finite), "{data:?}");
            }
        }
    }
}
